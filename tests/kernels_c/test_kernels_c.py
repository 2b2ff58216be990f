"""The C kernels, run as anybody can run them: built alone, read by their standard output."""

from __future__ import annotations

import collections
import itertools
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench import machine
from labs.recording import declared
from labs.results.result import result_of
from labs.run.c_process import gather, parse_run
from support.c_programs import (
    CPUS,
    FOLDER,
    KERNELS,
    LINUX,
    Code,
    Program,
    compile_c,
    conditions_of,
    errors_of,
    listed,
    listed_by,
    on_one_cpu,
    rows_of,
    system_calls,
)
from support.programs import Done, call

CLOCKS = ["monotonic", "monotonic-raw", "realtime", "process-cpu", "thread-cpu", "gettimeofday"]
SOME_CPU = CPUS[0]
#: A multiple of every number of batch sizes, so that each variant gets as many.
FEW = ("--samples", "12", "--warmup", "2")
FEWEST = ("--samples", "4", "--warmup", "0")
SWITCHING = ("process_switch", "thread_switch", "switch_footprint", "system_call")
EVERY = pytest.mark.parametrize("kernel", KERNELS)

ProgramOf = Callable[[str], Program]
#: By variant, what it is and why it is missing.
Listing = dict[str, tuple[str, str]]


@pytest.fixture(scope="module")
def timer(program_of: ProgramOf) -> Program:
    return program_of("timer_overhead")


def measured(done: Done, rows: int = 12) -> dict[str, str]:
    """The conditions of a run that went well, with so many steady samples of its first variant."""
    assert done.returncode == 0, done.stderr
    assert errors_of(done) == []
    stated = conditions_of(done.stdout)
    first = stated["variants"].split(",")[0]
    steady = [row for row in rows_of(done.stdout) if row[0] == first and row[1] >= 0]
    assert len(steady) == rows
    assert all(ticks >= 0 for *_, ticks in steady)
    return stated


def few_of_all(command: Sequence[str], variants: Listing, **more: Any) -> dict[str, Done]:
    """Some samples of each of these variants, as they are listed, by as few runs as will do.

    One run has all that the machine is said to have. Where it fails, and of what is said to be
    missing, each variant has its own. The runs go by the words of their `--variant`. `more` is for
    `call`.
    """

    def few(words: str) -> Done:
        return call(Path(command[0]), *command[1:], "--variant", words, *FEWEST, **more)

    there = [name for name, (_, missing) in variants.items() if not missing]
    if not there:
        return {name: few(name) for name in variants}
    done = few(",".join(there))
    if done.returncode == 0 and {name for name, *_ in rows_of(done.stdout)} >= set(there):
        alone = [name for name in variants if name not in there]
        return {",".join(there): done, **{name: few(name) for name in alone}}
    return {name: few(name) for name in variants}


def batches_of(found: Listing) -> Iterator[Listing]:
    """The variants of a list, in parts of as many as one run takes."""
    rest = iter(found.items())
    while part := dict(itertools.islice(rest, 14)):
        yield part


def some(found: Listing) -> Listing:
    """The first variants of a list, as many as one run takes."""
    return next(batches_of(found))


def measured_or_refused(done: Done) -> bool:
    """Whether it measured; else it must have said in one line why this machine cannot."""
    if done.returncode == 0:
        assert rows_of(done.stdout)
        return True
    assert done.returncode == 3, done.stderr
    assert len(errors_of(done)) == 1 and len(errors_of(done)[0]) > 20
    assert done.stdout == ""
    return False


# Building

#: Built with -O3 too, which takes the compiler longest: the C kernel that measures
#: at every level, the one with most functions, and the one with most headers.
AT_O3 = ("procedure_call", "switch_footprint", "first_iteration")


@EVERY
def test_each_builds_alone_without_a_warning(
    program_of: ProgramOf, kernel: str, tmp_path: Path
) -> None:
    assert call(program_of(kernel), "--list").returncode == 0  # built with -O2
    for level in ("-O0", "-O3") if kernel in AT_O3 else ("-O0",):
        program = compile_c(tmp_path, level, source=FOLDER / f"{kernel}.c")
        assert call(program, "--list").returncode == 0, level


def clocks_here(timer: Program) -> list[str]:
    """Those that this system has, by the names of their variants."""
    return [name for name, (_, missing) in listed(timer).items() if not missing]


def test_runs_clean_under_the_sanitizers(tmp_path: Path) -> None:
    program = compile_c(tmp_path, "-O1", "-g", "-fsanitize=address,undefined")
    done = call(program, "--variant", ",".join(clocks_here(program)), "--samples", "50")
    assert done.returncode == 0
    assert done.stderr == ""


def test_does_without_the_counter_where_a_sandbox_forbids_it(tmp_path: Path) -> None:
    program = compile_c(tmp_path, "-O2", "-DTICKLAB_NO_COUNTER")
    done = call(program, "--samples", "50")
    assert conditions_of(done.stdout)["counter"] == "clock_monotonic"
    assert done.returncode == 0


# Options

WRONG_OPTIONS = {
    "zero samples": ["--samples", "0"],
    "negative samples": ["--samples", "-5"],
    "absurdly many samples": ["--samples", "99999999999999999999"],
    "samples not a number": ["--samples", "many"],
    "samples empty": ["--samples", ""],
    "samples with a unit": ["--samples", "10k"],
    "negative warm-up": ["--warmup", "-1"],
    "unknown variant": ["--variant", "sundial"],
    "variant twice": ["--variant", "FIRST,FIRST"],
    "empty variant name": ["--variant", "FIRST,"],
    "negative batch size": ["--batch", "-64"],
    "batch size twice": ["--batch", "64,64"],
    "batch list empty": ["--batch", ""],
    "too many batch sizes": ["--batch", ",".join(str(n) for n in range(40))],
    "negative CPU": ["--cpu", "-1"],
    "CPU that no machine has": ["--cpu", "1023"],
    "CPU beyond every set": ["--cpu", "5000"],
    "seed zero": ["--seed", "0"],
    "unknown option": ["--sample-count", "5"],
    "option without its value": ["--samples"],
    "word that is no option": ["fenced"],
    "variant list too long": ["--variant", "FIRST," * 300],
    "batch list too long": ["--batch", "64," * 600],
}


@EVERY
def test_a_wrong_option_is_named_in_one_line(program_of: ProgramOf, kernel: str) -> None:
    program = program_of(kernel)
    first = next(iter(listed(program)))
    wrong: dict[str, Done] = {}
    for case, options in WRONG_OPTIONS.items():
        done = call(program, *(word.replace("FIRST", first) for word in options))
        said = done.stderr.count("\n") == 1 and options[0].removeprefix("--")[:6] in done.stderr
        if (done.returncode, done.stdout, said) != (2, "", True):
            wrong[case] = done
    assert wrong == {}


def test_a_batch_size_that_is_not_built_is_refused(timer: Program) -> None:
    done = call(timer, "--batch", "7")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--batch 7" in done.stderr


@LINUX
@EVERY
def test_a_cpu_outside_the_set_is_refused_with_the_set(program_of: ProgramOf, kernel: str) -> None:
    outside = next(cpu for cpu in range(1024) if cpu not in CPUS)
    for option in ("--cpu", "--peer-cpu"):
        done = call(program_of(kernel), option, str(outside), *FEW)
        assert done.returncode == 2
        for words in (option, str(min(CPUS)), "choose one"):
            assert words in done.stderr


@LINUX
@pytest.mark.parametrize(
    ("kernel", "variant"),
    [("process_switch", "pipe-two-cpus"), ("thread_switch", "condvar-two-cpus")],
)
def test_one_cpu_for_two_is_refused_where_the_variant_is_of_two(
    program_of: ProgramOf, kernel: str, variant: str
) -> None:
    if len(CPUS) < 2:
        pytest.skip("on one CPU the variant is refused as such")
    same = str(SOME_CPU)
    done = call(program_of(kernel), "--variant", variant, "--cpu", same, "--peer-cpu", same, *FEW)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--peer-cpu {same}: the first task is on that CPU" in done.stderr


def test_help_tells_the_options_and_list_the_variants(timer: Program) -> None:
    assert "--samples" in call(timer, "--help").stdout
    listed = call(timer, "--list").stdout
    assert re.findall(r"^([a-z-]+),\"", listed, re.M) == ["fenced", "unfenced", *CLOCKS]
    assert "# batch: 0,64,128,256,512" in listed


@EVERY
def test_every_variant_has_a_name_that_a_recording_takes_and_says_what_it_is(
    program_of: ProgramOf, kernel: str
) -> None:
    found = listed(program_of(kernel))
    assert found
    for name, (about, _) in found.items():
        assert re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,39}", name)
        assert about and '"' not in about


LARGE = ("-128m", "-256m", "-256mb", "-1gb")


@EVERY
def test_every_variant_measures_or_says_why_not(program_of: ProgramOf, kernel: str) -> None:
    program = program_of(kernel)
    # The memory of the larger ones takes long to fill, that of one shows that it can be. Of those
    # that switch, test_switches.py measures all, and counts their switches.
    variants = {
        name: each
        for name, each in listed(program).items()
        if name == "ordered-256m" or not name.endswith(LARGE)
        if kernel not in SWITCHING or each[1]
    }
    for some in batches_of(variants):
        for names, done in few_of_all([str(program)], some).items():
            missing = {some[name][1] != "" for name in names.split(",")}
            assert missing == {not measured_or_refused(done)}, names


@EVERY
def test_what_a_run_prints_is_read_as_a_recording(program_of: ProgramOf, kernel: str) -> None:
    done = call(program_of(kernel), *FEW)
    run = parse_run(done.stdout.encode(), kernel)
    asked = run.conditions["variants"]
    baseline = run.conditions.get(f"variant.{asked}.baseline")
    assert set(run.variants) == {asked, baseline} - {None}
    assert run.conditions["kernel"] == kernel
    assert len(run.table) == (12 + 2) * len(run.variants)
    assert run.conditions["cpu.asked"] == "none"
    for name in run.variants:
        assert float(run.conditions[f"clock.{name}.frequency_hz"]) > 0
        assert f"variant.{name}.switches" in run.conditions


# What is measured, in which order


@EVERY
def test_what_is_asked_for_is_what_is_measured(program_of: ProgramOf, kernel: str) -> None:
    program = program_of(kernel)
    sizes = re.search(r"^# batch: (\S+)$", call(program, "--list").stdout, re.M)
    assert sizes is not None
    two = sizes[1].split(",")[:2]
    done = call(program, *FEW, "--batch", ",".join(two), "--seed", "5")
    stated = measured(done)
    assert (stated["seed"], stated["samples"], stated["warmup"]) == ("5", "12", "2")
    rows = rows_of(done.stdout)
    assert {row[2] for row in rows} == {int(size) for size in two}
    assert [row[1] for row in rows] == list(range(-len(rows) // 7, len(rows) - len(rows) // 7))
    again = rows_of(call(program, *FEW, "--batch", ",".join(two), "--seed", "5").stdout)
    assert [row[:3] for row in again] == [row[:3] for row in rows]


def test_every_block_holds_each_variant_and_batch_size_once(timer: Program) -> None:
    names = ["fenced", "monotonic", "gettimeofday"]
    done = call(timer, "--variant", ",".join(names), "--samples", "50", "--warmup", "0")
    cells = [(name, batch) for name, _, batch, _ in rows_of(done.stdout)]
    assert len(cells) == 150
    for start in range(0, 150, 15):
        assert sorted(cells[start : start + 15]) == sorted(
            (name, batch) for name in names for batch in (0, 64, 128, 256, 512)
        )
    assert cells[:15] != cells[15:30]


def test_samples_are_spread_evenly_although_they_do_not_divide(timer: Program) -> None:
    rows = rows_of(call(timer, "--samples", "103", "--warmup", "0").stdout)
    count = collections.Counter(batch for _, _, batch, _ in rows)
    assert sum(count.values()) == 103
    assert max(count.values()) - min(count.values()) == 1


def test_a_seed_gives_the_same_order_again(timer: Program) -> None:
    def order(seed: str) -> list[tuple[str, int]]:
        done = call(timer, "--variant", "fenced,unfenced", "--samples", "40", "--seed", seed)
        assert conditions_of(done.stdout)["seed"] == seed
        return [(row[0], row[2]) for row in rows_of(done.stdout)]

    assert order("7") == order("7") != order("8")


def test_without_a_seed_each_run_has_its_own_and_says_so(timer: Program) -> None:
    seeds = {conditions_of(call(timer, "--samples", "5").stdout)["seed"] for _ in range(4)}
    assert len(seeds) > 1


def test_the_step_divides_every_sample(timer: Program) -> None:
    output = call(timer, "--variant", ",".join(clocks_here(timer)), "--samples", "200").stdout
    stated = conditions_of(output)
    for name, _, _, ticks in rows_of(output):
        assert ticks % int(stated[f"clock.{name}.step"]) == 0


def test_the_frequency_agrees_with_the_system_clock_over_a_longer_time(timer: Program) -> None:
    # 150,000 intervals take some tenths of a second; the default run only milliseconds.
    short = float(conditions_of(call(timer, "--samples", "100").stdout)["counter.frequency_hz"])
    long = float(conditions_of(call(timer, "--samples", "150000").stdout)["counter.frequency_hz"])
    assert short == pytest.approx(long, rel=2e-4)


def test_all_clocks_tell_the_same_time(timer: Program) -> None:
    # 512 dependent additions take the same time, whichever clock is read around them.
    output = call(timer, "--variant", ",".join(clocks_here(timer)), "--samples", "5000").stdout
    stated, rows = conditions_of(output), rows_of(output)
    slope = {}
    for name in set(clocks_here(timer)) - {"unfenced"}:
        means = []
        for size in (64, 512):
            ticks = sorted(row[3] for row in rows if row[0] == name and row[2] == size)
            # Of a coarse clock the mean tells the time, so no sample is left out, but cut off.
            most = ticks[9 * len(ticks) // 10] + 2 * int(stated[f"clock.{name}.step"])
            means.append(sum(min(each, most) for each in ticks) / len(ticks))
        slope[name] = (means[1] - means[0]) / float(stated[f"clock.{name}.frequency_hz"])
    assert slope["fenced"] == pytest.approx(slope["monotonic-raw"], rel=0.05)
    # The others step, or enter the OS kernel; a frequency that is twice too high or low shows.
    times = {name: each / slope["fenced"] for name, each in slope.items()}
    assert [name for name, each in times.items() if not 0.6 < each < 1.5] == [], times


def test_the_width_of_the_core_is_seen_from_before_the_first_sample_to_the_last(
    timer: Program,
) -> None:
    stated = conditions_of(call(timer, "--samples", "200", "--warmup", "20").stdout)
    widths = [float(word) for word in stated["core_width"].split()]
    after = [int(word) for word in stated["core_width.after"].split()]
    stores = [float(word) for word in stated["core_stores"].split()]
    assert len(widths) == len(stores) == len(after) == 41
    assert all(0 < number < 20 for number in (*widths, *stores))
    assert after == sorted(after)
    assert after[0] == -21 and after[-1] == 199


def test_nothing_looks_at_the_core_before_an_interval_that_is_cold_only_once(
    program_of: ProgramOf,
) -> None:
    """Nor right after it: the first interval is compared with those that follow it at once."""
    for samples in ("10", "300"):
        words = ("--variant", "call", "--samples", samples, "--warmup", "2")
        stated = conditions_of(call(program_of("first_iteration"), *words).stdout)
        after = [int(word) for word in stated["core_width.after"].split()]
        assert after[0] >= min(int(samples) - 1, 60), "numbered from 0, after the warm-up"


def test_rounds_keep_their_distance_so_that_few_samples_follow_one(
    program_of: ProgramOf,
) -> None:
    """A sample right after a round is longer: not all samples of a short run may be such."""
    words = ("--variant", "invalid", "--samples", "40", "--warmup", "0", "--batch", "1,2")
    stated = conditions_of(call(program_of("system_call"), *words).stdout)
    after = [int(word) for word in stated["core_width.after"].split()]
    assert len(after) == 41 and len(set(after)) < 20


@pytest.mark.parametrize("flag", ["-DTICKLAB_NO_CHAIN", "-m32"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_core_cycles_are_stated_only_where_their_chain_is_compiled_as_written(
    timer: Program, level: str, flag: str, tmp_path: Path
) -> None:
    def additions(program: Program) -> int:
        every = Code(program)
        code = every.function("chain_ticks") if "chain_ticks" in every else []
        return sum(bool(re.match(r"add %(\w+),%\1$|add (\w+), \2, \2$", e.text)) for e in code)

    build = ["gcc", flag, "-x", "c", "-", "-o", str(tmp_path / "tried")]
    tried = "#include <sys/syscall.h>\nint main(void) { return 0; }"
    if call(*build, input=tried).returncode != 0:
        pytest.skip(f"gcc {flag} builds no program here")
    looped = compile_c(tmp_path, level, flag)
    for program, count in ((looped, 0), (timer, 1024)):
        assert additions(program) == count
        in_cycles = [key for key in measured(call(program, *FEW)) if "core_" in key]
        assert ("core_cycle_ticks" in in_cycles) == bool(in_cycles) == (count > 0)
    recording = gather({}, [parse_run(call(looped, *FEW).stdout.encode(), "own")], "own")
    assert recording.clock(recording.variants[0]).core_cycle_ticks is None
    assert declared.of_variant(recording, recording.variants[0]).operation_cycles == 0
    assert "core_cycles" not in result_of(recording).as_json()
    with pytest.raises(ValueError, match="cycle"):
        result_of(recording, unit="cycles")


# Where it runs


@LINUX
@EVERY
def test_pinning_is_read_back(program_of: ProgramOf, kernel: str) -> None:
    stated = measured(call(program_of(kernel), "--cpu", str(CPUS[-1]), *FEW))
    assert stated["cpu.asked"] == stated["cpu.before"] == stated["cpu.after"] == str(CPUS[-1])
    assert stated["task.main.migrations"] == "0"


@LINUX
def test_what_others_take_of_the_cpu_is_seen(program_of: ProgramOf) -> None:
    def taken() -> float:
        options = ("--cpu", str(CPUS[-1]), *FEW)
        runs = [measured(call(program_of("timer_overhead"), *options)) for _ in range(20)]
        shares = [float(stated["cpu.taken"]) for stated in runs]
        assert all(0 <= share <= 1 for share in shares)
        assert all(float(stated["cpu.gaps_per_s"]) >= 0 for stated in runs)
        assert all(
            (float(stated["cpu.gaps_per_s"]) > 0) >= (share > 0)
            for stated, share in zip(runs, shares, strict=True)
        )
        return sum(shares)

    with machine.busy(3, CPUS[-1]):  # each has a quarter of the CPU
        assert taken() > 1


@LINUX
@EVERY
def test_works_in_a_set_of_one_cpu(program_of: ProgramOf, kernel: str) -> None:
    done = call(program_of(kernel), *FEW, preexec_fn=on_one_cpu)
    assert measured(done)["cpu.allowed"] == str(SOME_CPU)


@LINUX
@pytest.mark.parametrize(
    ("kernel", "variant"),
    [
        ("process_switch", "pipe-two-cpus"),
        ("thread_switch", "condvar-two-cpus"),
        ("thread_switch", "futex-two-cpus"),
    ],
)
def test_in_a_set_of_one_cpu_two_are_said_to_be_missing(
    program_of: ProgramOf, kernel: str, variant: str
) -> None:
    for options in (["--variant", variant, *FEW], ["--list"]):
        done = call(program_of(kernel), *options, preexec_fn=on_one_cpu)
        if options[0] == "--list":
            assert re.search(rf"^{variant},.*one CPU only", done.stdout, re.M)
        else:
            assert not measured_or_refused(done) and "one CPU only" in done.stderr


@LINUX
@EVERY
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to leave")
def test_works_as_an_ordinary_user(program_of: ProgramOf, kernel: str) -> None:
    # The user need not be able to enter the folder where the program lies.
    handle = os.memfd_create(kernel, 0)
    os.write(handle, program_of(kernel).read_bytes())
    program = [f"/proc/self/fd/{handle}", "--cpu", str(SOME_CPU)]
    nobody = {"user": 65534, "group": 65534, "extra_groups": [], "pass_fds": [handle]}
    variants = some(listed(program_of(kernel)))
    for names, done in few_of_all(program, variants, **nobody).items():
        missing = {variants[name][1] != "" for name in names.split(",")}
        assert missing == {not measured_or_refused(done)}, (names, done.stderr)
    os.close(handle)


@LINUX
@EVERY
def test_works_in_a_sandbox_without_sys_and_proc(program_of: ProgramOf, kernel: str) -> None:
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None:
        pytest.skip("bubblewrap is not installed")
    sandbox = [bubblewrap, "--unshare-all", "--die-with-parent"]
    for folder in ("/usr", "/lib", "/lib64"):
        if Path(folder).exists():
            sandbox += ["--ro-bind", folder, folder]
    program = ["--ro-bind", str(program_of(kernel)), "/program", "/program", *FEW]
    for devices in (["--dev", "/dev"], []):
        done = call(*sandbox, *devices, *program)
        if "bwrap:" in done.stderr:
            pytest.skip(f"bubblewrap is not allowed here: {done.stderr.strip()}")
        if devices:
            measured(done)
        else:
            measured_or_refused(done)


FILTER = r"""
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
/* Refuses the system call of this number with EPERM, and runs what follows. */
int main(int argc, char **argv)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argc > 1 ? (unsigned)atoi(argv[1]) : 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("seccomp");
        return 77;
    }
    execv(argv[2], argv + 2);
    return 78;
}
"""

#: System calls that a sandbox may refuse, with their numbers on x86-64 and elsewhere.
REFUSED = {
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "getppid": (110, 173),
    "setuid": (105, 146),
    "getuid": (102, 174),
    "clone": (56, 220),
    "clone3": (435, 435),
    "pipe2": (293, 59),
    "eventfd2": (290, 19),
    "socketpair": (53, 199),
    "madvise": (28, 233),
    "prctl": (157, 167),
    "sched_yield": (24, 124),
    "getrusage": (98, 165),
}


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """A program that refuses a system call to the program it runs."""
    folder = tmp_path_factory.mktemp("filter")
    (folder / "filter.c").write_text(FILTER)
    program = compile_c(folder, "-O2", source=folder / "filter.c")
    tried = call(program, "100000", "/bin/true")
    if tried.returncode == 77:
        pytest.skip(f"no seccomp filter can be set here: {tried.stderr.strip()}")
    return program


@LINUX
@EVERY
def test_under_a_seccomp_filter_it_measures_or_says_why_not(
    filtered: Program, program_of: ProgramOf, kernel: str
) -> None:
    program = program_of(kernel)
    variants = some(listed(program))
    for refused, numbers in REFUSED.items():
        number = str(numbers[os.uname().machine != "x86_64"])
        for name, done in few_of_all([str(filtered), number, str(program)], variants).items():
            assert measured_or_refused(done) or errors_of(done), (refused, name)


@LINUX
@pytest.mark.parametrize(
    ("kernel", "variant"),
    [
        ("process_switch", "pipe-pinned"),
        ("process_switch", "eventfd-pinned"),
        ("process_switch", "pipe-carried-back"),
        ("switch_footprint", "processes-4-0"),
    ],
)
def test_without_its_peer_it_ends_and_says_so(
    program_of: ProgramOf, kernel: str, variant: str
) -> None:
    options = ["--variant", variant, "--samples", "1000000", "--end-with", str(os.getpid())]
    process = subprocess.Popen(
        [str(program_of(kernel)), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    process.stderr.readline()  # progress: the peers are there
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)
    words = process.stderr.read()
    assert process.wait(timeout=20) == 1
    assert [line for line in words.splitlines() if not line.startswith("progress")] == [
        "a peer process has ended before its time"
    ]


@LINUX
@EVERY
def test_pinning_that_a_filter_refuses_is_told(
    filtered: Program, program_of: ProgramOf, kernel: str
) -> None:
    number = str(REFUSED["sched_setaffinity"][os.uname().machine != "x86_64"])
    done = call(filtered, number, str(program_of(kernel)), *FEW, "--cpu", str(SOME_CPU))
    assert not measured_or_refused(done)
    assert re.search("OS refuse[sd] to pin: ", done.stderr)


# Ends


@LINUX
@EVERY
def test_a_full_disk_is_told(program_of: ProgramOf, kernel: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = call(program_of(kernel), *FEW, stdout=full)
    assert done.returncode == 1
    assert len(errors_of(done)) == 1 and "No space left" in errors_of(done)[0]


@LINUX
def test_a_full_disk_is_told_although_most_went_out_before(timer: Program, tmp_path: Path) -> None:
    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    with (tmp_path / "out").open("w") as out:
        done = call(timer, "--samples", "20000", stdout=out, preexec_fn=small_files)
    assert done.returncode == 1
    assert "File too large" in done.stderr


def test_a_reader_that_leaves_ends_it(timer: Program) -> None:
    process = subprocess.Popen(
        [str(timer), "--samples", "200000"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=20) == -signal.SIGPIPE


@LINUX
@EVERY
def test_end_with_refuses_a_parent_that_is_not_its_own(program_of: ProgramOf, kernel: str) -> None:
    done = call(program_of(kernel), "--end-with", "1", *FEW)
    assert done.returncode == 1
    assert "not the parent" in done.stderr


@LINUX
@EVERY
def test_ends_when_its_parent_is_killed(program_of: ProgramOf, kernel: str) -> None:
    # The pipe closes when the last process that holds it is gone.
    script = (
        "import os, subprocess, sys\n"
        f"subprocess.Popen([{str(program_of(kernel))!r}, '--samples', '1000000', '--end-with', "
        "str(os.getpid())], stdout=subprocess.DEVNULL)\n"
        "sys.stdout.write('started\\n'); sys.stdout.flush(); os.kill(os.getpid(), 9)\n"
    )
    parent = call(sys.executable, "-c", script, timeout=60)
    assert parent.stdout == "started\n"


# Machine code and system calls


#: The C kernels with code of their own for riscv64. To the others it is what aarch64 is: no x86-64.
OF_RISCV64 = ("timer_overhead", "first_iteration", "system_call", "task_creation")


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("architecture", "kernel"),
    [*(("aarch64", kernel) for kernel in KERNELS), *(("riscv64", kernel) for kernel in OF_RISCV64)],
)
def test_other_architectures_measure_under_emulation(
    architecture: str, kernel: str, tmp_path: Path
) -> None:
    compiler = f"{architecture}-linux-gnu-gcc"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    emulator = shutil.which(f"qemu-{architecture}-static") or shutil.which(f"qemu-{architecture}")
    if emulator is None:
        pytest.skip(f"qemu-{architecture} is not installed")
    program = compile_c(
        tmp_path, "-O2", "-static", compiler=(compiler,), source=FOLDER / f"{kernel}.c"
    )
    counter = {"aarch64": "cntvct", "riscv64": "time"}[architecture]
    emulated = [emulator, str(program)]
    for name, done in few_of_all(emulated, some(listed_by(emulated))).items():
        if measured_or_refused(done):
            assert conditions_of(done.stdout)["counter"] == counter, name
        else:
            assert name not in ("fenced", "getppid", "args0", "fork", "pipe-pinned", "condvar")
    assert call(Path(emulator), str(program), "--cpu", "1022").returncode == 2


@pytest.mark.slow
@EVERY
def test_builds_for_macos(
    kernel: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pytest.importorskip("ziglang", reason="the ziglang wheel is not installed")
    # What zig builds for a target, it builds once. Its runtime library would take a third of the
    # time, and every C kernel links without it. To optimise takes most of the rest, and clang warns
    # and links alike without; under a level of -O0 zig would build further libraries.
    cache = str(tmp_path_factory.getbasetemp() / "zig")
    for target in ("x86_64-macos", "aarch64-macos"):
        compile_c(
            tmp_path,
            *("-O2", "-Xclang", "-O0", "-target", target, "-rtlib=none"),
            compiler=(sys.executable, "-m", "ziglang", "cc"),
            source=FOLDER / f"{kernel}.c",
            env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache},
        )


def clock_calls(timer: Program, variant: str, tmp_path: Path) -> collections.Counter[str]:
    options = ("--variant", variant, "--samples", "200", "--warmup", "0")
    return system_calls(timer, tmp_path / "calls", *options).made()


@LINUX
@pytest.mark.parametrize("variant", ["fenced", "monotonic", "realtime", "gettimeofday"])
def test_a_vdso_clock_makes_no_system_call(timer: Program, variant: str, tmp_path: Path) -> None:
    source = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if not source.exists() or source.read_text().strip() not in ("tsc", "arch_sys_counter"):
        pytest.skip("the system's clock cannot be read without a system call here")
    calls = clock_calls(timer, variant, tmp_path)
    # The harness itself reads the reference clock by a few system calls.
    assert calls["gettimeofday"] == 0 and calls["clock_gettime"] < 20


@LINUX
@pytest.mark.parametrize("variant", ["process-cpu", "thread-cpu"])
def test_a_cpu_time_clock_makes_two_system_calls_a_sample(
    timer: Program, variant: str, tmp_path: Path
) -> None:
    # Beside the samples, the step is found by at least 2001 readings.
    assert clock_calls(timer, variant, tmp_path)["clock_gettime"] >= 2 * 200 + 2001


@LINUX
def test_nothing_is_written_while_measuring(timer: Program, tmp_path: Path) -> None:
    calls = clock_calls(timer, "fenced", tmp_path)
    # Whether switches are counted; then itself and its children, before and after.
    assert calls["getrusage"] == 2 + 4
    log = (tmp_path / "calls").read_text()
    meanwhile = re.findall(r"^\d+ +(\w+)\(", log.split("getrusage(")[4], re.M)
    assert set(meanwhile) <= {"getcpu"}  # itself a call where there is no vDSO
