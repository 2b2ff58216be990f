"""The C kernels, run as anybody can run them: built alone, read by their standard output."""

from __future__ import annotations

import collections
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import pytest

FOLDER = Path(__file__).parent.parent / "kernels_c"
SOURCES = sorted(FOLDER.glob("*.c"))
CLOCKS = "monotonic,monotonic-raw,realtime,process-cpu,thread-cpu,gettimeofday"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
SOME_CPU = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0

Program = Path
Done = subprocess.CompletedProcess[str]


def compile_c(
    into: Path,
    *flags: str,
    compiler: Sequence[str] = ("gcc",),
    source: Path = FOLDER / "timer_overhead.c",
    env: Mapping[str, str] | None = None,
) -> Program:
    program = into / source.stem
    command = [*compiler, *flags, "-Wall", "-Wextra", "-Werror", "-pthread"]
    done = subprocess.run(
        [*command, str(source), "-o", str(program), "-lm"],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    assert done.returncode == 0, done.stderr
    return program


def call(program: Program, *options: str, stdout: IO[str] | int = subprocess.PIPE) -> Done:
    return subprocess.run(
        [str(program), *options],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )


def rows_of(output: str) -> list[tuple[str, int, int, int]]:
    body = output.partition("variant,sample,batch,ticks\n")[2]
    rows = [line.split(",") for line in body.splitlines()]
    return [(name, int(number), int(batch), int(ticks)) for name, number, batch, ticks in rows]


def conditions_of(output: str) -> dict[str, str]:
    head = output.partition("variant,sample,batch,ticks\n")[0]
    pairs = [line.removeprefix("# ").partition(": ") for line in head.splitlines()]
    return {key: value for key, _, value in pairs}


@pytest.fixture(scope="module")
def timer(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compile_c(tmp_path_factory.mktemp("timer"), "-O2")


# Building


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_each_builds_alone_without_a_warning(source: Path, level: str, tmp_path: Path) -> None:
    program = compile_c(tmp_path, level, source=source)
    assert call(program, "--list").returncode == 0


def test_runs_clean_under_the_sanitizers(tmp_path: Path) -> None:
    program = compile_c(tmp_path, "-O1", "-g", "-fsanitize=address,undefined")
    done = call(program, "--variant", f"fenced,unfenced,{CLOCKS}", "--samples", "50")
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
    "variant twice": ["--variant", "fenced,fenced"],
    "empty variant name": ["--variant", "fenced,"],
    "batch size not built": ["--batch", "7"],
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
    "variant list too long": ["--variant", "fenced," * 300],
    "batch list too long": ["--batch", "64," * 600],
}


@pytest.mark.parametrize("options", WRONG_OPTIONS.values(), ids=WRONG_OPTIONS.keys())
def test_a_wrong_option_is_named_in_one_line(timer: Program, options: list[str]) -> None:
    done = call(timer, *options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert options[0].removeprefix("--")[:6] in done.stderr


def test_a_cpu_outside_the_set_is_refused_with_the_set(timer: Program) -> None:
    allowed = os.sched_getaffinity(0)
    outside = next(cpu for cpu in range(1024) if cpu not in allowed)
    done = call(timer, "--cpu", str(outside))
    assert done.returncode == 2
    assert str(min(allowed)) in done.stderr and "choose one" in done.stderr


def test_help_tells_the_options_and_list_the_variants(timer: Program) -> None:
    assert "--samples" in call(timer, "--help").stdout
    listed = call(timer, "--list").stdout
    assert re.findall(r"^([a-z-]+),\"", listed, re.M) == ["fenced", "unfenced", *CLOCKS.split(",")]
    assert "# batch: 0,64,128,256,512" in listed


# What is measured, in which order


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


def test_warm_up_comes_first_with_numbers_below_zero(timer: Program) -> None:
    done = call(timer, "--variant", "fenced,realtime", "--samples", "10", "--warmup", "4")
    assert [row[1] for row in rows_of(done.stdout)] == list(range(-8, 20))


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
    output = call(timer, "--variant", f"fenced,{CLOCKS}", "--samples", "200").stdout
    stated = conditions_of(output)
    for name, _, _, ticks in rows_of(output):
        assert ticks % int(stated[f"clock.{name}.step"]) == 0


def test_the_frequency_agrees_with_the_system_clock_over_a_longer_time(timer: Program) -> None:
    # 150,000 intervals take some tenths of a second; the default run only milliseconds.
    short = float(conditions_of(call(timer, "--samples", "100").stdout)["counter.frequency_hz"])
    long = float(conditions_of(call(timer, "--samples", "150000").stdout)["counter.frequency_hz"])
    assert short == pytest.approx(long, rel=2e-4)


def test_the_counter_tells_the_same_time_as_the_clock(timer: Program) -> None:
    # 512 dependent additions take the same time, whichever clock is read around them.
    output = call(timer, "--variant", "fenced,monotonic-raw", "--samples", "5000").stdout
    stated = conditions_of(output)
    slope = {}
    for name in ("fenced", "monotonic-raw"):
        means = []
        for size in (64, 512):
            ticks = sorted(row[3] for row in rows_of(output) if row[0] == name and row[2] == size)
            kept = ticks[len(ticks) // 10 : -len(ticks) // 10]
            means.append(sum(kept) / len(kept))
        slope[name] = (means[1] - means[0]) / float(stated[f"clock.{name}.frequency_hz"])
    assert slope["fenced"] == pytest.approx(slope["monotonic-raw"], rel=0.05)


# Where it runs


@LINUX
def test_pinning_is_read_back(timer: Program) -> None:
    stated = conditions_of(call(timer, "--cpu", str(SOME_CPU), "--samples", "50").stdout)
    assert stated["cpu.asked"] == stated["cpu.before"] == stated["cpu.after"] == str(SOME_CPU)
    assert stated["task.main.migrations"] == "0"


@LINUX
def test_without_pinning_it_says_so(timer: Program) -> None:
    assert conditions_of(call(timer, "--samples", "5").stdout)["cpu.asked"] == "none"


@LINUX
def test_works_in_a_set_of_one_cpu(timer: Program) -> None:
    def one() -> None:
        os.sched_setaffinity(0, {SOME_CPU})

    done = subprocess.run(
        [str(timer), "--samples", "50"], capture_output=True, text=True, preexec_fn=one, check=False
    )
    assert done.returncode == 0
    assert conditions_of(done.stdout)["cpu.allowed"] == str(SOME_CPU)


@LINUX
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to leave")
def test_works_as_an_ordinary_user(timer: Program) -> None:
    content = timer.read_bytes()
    handle = os.memfd_create("timer", 0)
    os.write(handle, content)
    done = subprocess.run(
        [f"/proc/self/fd/{handle}", "--samples", "50", "--cpu", str(SOME_CPU)],
        capture_output=True,
        text=True,
        user=65534,
        group=65534,
        extra_groups=[],
        pass_fds=[handle],
        check=False,
    )
    os.close(handle)
    assert done.returncode == 0, done.stderr
    assert len(rows_of(done.stdout)) == 150


@LINUX
def test_works_in_a_sandbox_without_sys_and_proc(timer: Program) -> None:
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None:
        pytest.skip("bubblewrap is not installed")
    sandbox = [bubblewrap, "--unshare-all", "--die-with-parent"]
    for folder in ("/usr", "/lib", "/lib64"):
        if Path(folder).exists():
            sandbox += ["--ro-bind", folder, folder]
    sandbox += ["--ro-bind", str(timer), "/timer", "/timer", "--samples", "50"]
    done = subprocess.run(sandbox, capture_output=True, text=True, check=False)
    if "bwrap:" in done.stderr:
        pytest.skip(f"bubblewrap is not allowed here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    assert len(rows_of(done.stdout)) == 150


FILTER = r"""
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
/* Refuses sched_setaffinity with EPERM, and runs what follows. */
int main(int argc, char **argv)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("seccomp");
        return 77;
    }
    execv(argv[1], argv + 1);
    return 78;
}
"""


@LINUX
def test_under_a_seccomp_filter_it_measures_or_says_why_not(timer: Program, tmp_path: Path) -> None:
    source = tmp_path / "filter.c"
    source.write_text(FILTER)
    filtered = compile_c(tmp_path, "-O2", source=source)
    free = call(filtered, str(timer), "--samples", "50")
    if free.returncode == 77:
        pytest.skip(f"no seccomp filter can be set here: {free.stderr.strip()}")
    assert free.returncode == 0
    pinned = call(filtered, str(timer), "--samples", "50", "--cpu", str(SOME_CPU))
    assert pinned.returncode == 3
    assert "refused to pin" in pinned.stderr and pinned.stderr.count("\n") == 1


# Ends


@LINUX
def test_a_full_disk_is_told(timer: Program) -> None:
    with Path("/dev/full").open("w") as full:
        done = call(timer, "--samples", "5", stdout=full)
    assert done.returncode == 1
    assert "No space left" in done.stderr and done.stderr.count("\n") == 1


@LINUX
def test_a_full_disk_is_told_although_most_went_out_before(timer: Program, tmp_path: Path) -> None:
    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    with (tmp_path / "out").open("w") as out:
        done = subprocess.run(
            [str(timer), "--samples", "20000"],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=small_files,
            check=False,
        )
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
def test_end_with_refuses_a_parent_that_is_not_its_own(timer: Program) -> None:
    done = call(timer, "--end-with", "1", "--samples", "5")
    assert done.returncode == 1
    assert "not the parent" in done.stderr


@LINUX
def test_ends_when_its_parent_is_killed(timer: Program) -> None:
    # The pipe closes when the last process that holds it is gone.
    script = (
        "import os, subprocess, sys\n"
        f"subprocess.Popen([{str(timer)!r}, '--samples', '10000000', '--end-with', "
        "str(os.getpid())], stdout=subprocess.DEVNULL)\n"
        "sys.stdout.write('started\\n'); sys.stdout.flush(); os.kill(os.getpid(), 9)\n"
    )
    parent = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=8, check=False
    )
    assert parent.stdout == "started\n"


# Machine code and system calls


def disassembly(program: Program, function: str, objdump: str = "objdump") -> list[str]:
    if shutil.which(objdump) is None:
        pytest.skip(f"{objdump} is not installed")
    done = subprocess.run(
        [objdump, "-d", "--no-show-raw-insn", str(program)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(rf"^[0-9a-f]+ <{function}>:\n(.*?)\n\n", done.stdout, re.M | re.S)
    assert found is not None, f"{function} is not in the program"
    return [line.partition("\t")[2].replace("\t", " ") for line in found[1].splitlines()]


def between(code: list[str], first: str, last: str) -> list[str]:
    """The instructions after the first `first` and before the last `last`."""
    names = [line.split()[0] for line in code]
    start = names.index(first)
    end = len(names) - 1 - names[::-1].index(last)
    return code[start + 1 : end]


def needs(architecture: str) -> pytest.MarkDecorator:
    here = os.uname().machine
    return pytest.mark.skipif(here != architecture, reason=f"needs {architecture}, this is {here}")


@needs("x86_64")
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("size", [0, 128])
def test_x86_64_interval_holds_the_additions_and_fences_only(
    level: str, size: int, tmp_path: Path
) -> None:
    # The two functions are inlined into the choice among sizes unless told otherwise.
    program = compile_c(tmp_path, level, "-fno-inline-small-functions", "-fno-inline")
    code = disassembly(program, f"fenced_{size}")
    inside = between(code, "rdtsc", "rdtscp")
    names = collections.Counter(line.split()[0] for line in inside)
    assert inside[0].split()[0] == "lfence"
    added = [line for line in inside if re.match(r"add +%(\w+),%\1$", line)]
    assert len(added) == size
    assert len(set(added)) <= 1
    # Besides: the counter's halves are put together, and at -O0 kept in memory. No jump, no call.
    assert not set(names) & {"call", "jmp", "je", "jne", "cpuid", "syscall", "ret"}
    if level == "-O2":
        assert sum(names.values()) - size - 1 <= 4
    before = [line.split()[0] for line in code]
    assert before[before.index("rdtsc") - 1] == "lfence"
    assert before[before.index("rdtscp") + 1] == "lfence"


@needs("x86_64")
def test_x86_64_unfenced_interval_has_no_fence(tmp_path: Path) -> None:
    program = compile_c(tmp_path, "-O2", "-fno-inline-small-functions", "-fno-inline")
    assert not [line for line in disassembly(program, "unfenced_128") if "fence" in line]


@pytest.fixture(scope="module", params=["aarch64", "riscv64"])
def crossed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The C kernel for another architecture; its folder is named after it."""
    compiler = f"{request.param}-linux-gnu-gcc"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    folder = tmp_path_factory.mktemp("cross") / request.param
    folder.mkdir()
    return compile_c(folder, "-O2", "-static", "-fno-inline-small-functions", compiler=(compiler,))


@pytest.mark.emulated
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_aarch64_interval_holds_the_additions_and_barriers_only(level: str, tmp_path: Path) -> None:
    compiler = "aarch64-linux-gnu-gcc"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    program = compile_c(tmp_path, level, "-fno-inline", compiler=(compiler,))
    code = disassembly(program, "fenced_128", "aarch64-linux-gnu-objdump")
    names = [line.split()[0] for line in code]
    assert names.count("mrs") == 2 and names.count("isb") == 4
    assert all("cntvct_el0" in line for line in code if line.startswith("mrs"))
    inside = between(code, "mrs", "mrs")
    added = [line for line in inside if re.match(r"add (\w+), \1, \1$", line)]
    assert len(added) == 128
    assert names[names.index("mrs") - 1] == "isb" and inside[0].split()[0] == "isb"
    assert inside[-1].split()[0] == "isb"
    assert not [line for line in inside if re.match(r"(b|bl|cbz|cbnz|svc|ret)\b", line)]


@pytest.mark.emulated
def test_other_architectures_measure_under_emulation(crossed: Program) -> None:
    architecture = crossed.parent.name
    emulator = shutil.which(f"qemu-{architecture}-static") or shutil.which(f"qemu-{architecture}")
    if emulator is None:
        pytest.skip(f"qemu-{architecture} is not installed")
    command = [emulator, str(crossed), "--samples", "40", "--variant", f"fenced,unfenced,{CLOCKS}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    counter = {"aarch64": "cntvct", "riscv64": "time"}[architecture]
    assert conditions_of(done.stdout)["counter"] == counter
    assert len(rows_of(done.stdout)) == 8 * 140
    wrong = subprocess.run([*command, "--cpu", "1022"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2


@pytest.mark.slow
@pytest.mark.parametrize("target", ["x86_64-macos", "aarch64-macos"])
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_builds_for_macos(target: str, source: Path, tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="the ziglang wheel is not installed")
    cache = tmp_path / "zig"
    compile_c(
        tmp_path,
        "-O2",
        "-target",
        target,
        compiler=(sys.executable, "-m", "ziglang", "cc"),
        source=source,
        env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)},
    )


def system_calls(timer: Program, variant: str, tmp_path: Path) -> collections.Counter[str]:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    log = tmp_path / "calls"
    command = [strace, "-f", "-o", str(log), str(timer), "--variant", variant]
    done = subprocess.run(
        [*command, "--samples", "200", "--warmup", "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"strace is not allowed here: {done.stderr.strip()[-200:]}")
    return collections.Counter(re.findall(r"^\d+ +(\w+)\(", log.read_text(), re.M))


@LINUX
@pytest.mark.parametrize("variant", ["fenced", "monotonic", "realtime", "gettimeofday"])
def test_a_vdso_clock_makes_no_system_call(timer: Program, variant: str, tmp_path: Path) -> None:
    source = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if not source.exists() or source.read_text().strip() not in ("tsc", "arch_sys_counter"):
        pytest.skip("the system's clock cannot be read without a system call here")
    calls = system_calls(timer, variant, tmp_path)
    assert calls["clock_gettime"] == calls["gettimeofday"] == 0


@LINUX
@pytest.mark.parametrize("variant", ["process-cpu", "thread-cpu"])
def test_a_cpu_time_clock_makes_two_system_calls_a_sample(
    timer: Program, variant: str, tmp_path: Path
) -> None:
    # Beside the samples, the step is found by at least 2001 readings.
    assert system_calls(timer, variant, tmp_path)["clock_gettime"] >= 2 * 200 + 2001


@LINUX
def test_nothing_is_written_while_measuring(timer: Program, tmp_path: Path) -> None:
    calls = system_calls(timer, "fenced", tmp_path)
    assert calls["getrusage"] == 2
    log = (tmp_path / "calls").read_text()
    meanwhile = re.findall(r"^\d+ +(\w+)\(", log.split("getrusage(")[1], re.M)
    assert set(meanwhile) <= {"getcpu"}  # itself a call where there is no vDSO
