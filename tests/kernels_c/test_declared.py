"""What a C kernel declares about its variants is what they do, and what readers of it see."""

from __future__ import annotations

import argparse
import dataclasses
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from grader.figures import LABS
from labs.c_kernels.new_kernel import source_of_new
from labs.files import cpu_list
from labs.notebook.ckernel_magic import plan_of_cell
from labs.notebook.session import Session
from labs.recording import declared
from labs.recording.declared import Declared, Estimand, Placement
from labs.recording.file import Recording, parse
from labs.results.result import result_of
from labs.run import declared_options, variants
from labs.run.c_process import build, gather, parse_run
from labs.run.declared_options import DEFAULT_SAMPLES, DEFAULT_WARMUP
from labs.run.measure import Plan
from labs.run.variants import plan_of, plan_of_line
from support.c_programs import FOLDER, KERNELS, LINUX, TWO_CPUS, Program, conditions_of
from support.paths import FIXTURES
from support.programs import call

OLD = FIXTURES / "fenced.csv"


def stating(kernel: str, variant: str, stated: Mapping[str, str]) -> Recording:
    """A recording without samples that states these words about `variant`."""
    conditions = {f"variant.{variant}.{key}": word for key, word in stated.items()}
    none = np.zeros(0, dtype=np.int64)
    return Recording(
        kernel, MappingProxyType(conditions), (), (variant,), none, none, none, none, none
    )


def listed() -> Iterator[tuple[str, variants.Listed]]:
    for kernel in KERNELS:
        for each in variants.of_kernel(kernel):
            yield kernel, each


# What is read


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_recording_states_what_list_shows(kernel: str) -> None:
    done = call(build(Plan(kernel)).path, "--samples", "4", "--warmup", "0")
    assert done.returncode == 0, done.stderr
    keys = [line.partition(": ")[0] for line in done.stdout.splitlines() if line.startswith("#")]
    assert len(keys) == len(set(keys)), "two things go by one name"
    recording = gather({}, [parse_run(done.stdout.encode(), kernel)], kernel)
    listing = {each.name: each.declared for each in variants.of_kernel(kernel)}
    for name in recording.variants:
        assert recording.condition(f"variant.{name}.estimand") == (listing[name].estimand.value,)
        assert declared.of_variant(recording, name) == listing[name]


def test_every_word_of_the_c_is_read_as_what_it_says() -> None:
    words = {
        "estimand": "first-time", "operation_cycles": "3", "placement": "cpus-in-turn",
        "other_tasks": "63", "traps": "1", "unfenced": "1", "memory": "1",
    }  # fmt: skip
    found = declared.of_variant(stating("mine", "own", words), "own")
    assert found == Declared(Estimand.FIRST_TIME, 3, Placement.CPUS_IN_TURN, 63, True, True, True)


def test_what_is_not_stated_beside_an_estimand_is_the_default() -> None:
    found = declared.of_variant(
        stating("timer_overhead", "unfenced", {"estimand": "cost"}), "unfenced"
    )
    assert found == Declared()


UNKNOWN = {
    "placement": ("", "the moon", "ONE-CPU", "0"),
    "other_tasks": ("-1", "1e3", "²", "٣", "9999", "1" * 5_000, " 1"),
    "operation_cycles": ("-1", "0.5", "inf", "9999"),
    **dict.fromkeys(("traps", "unfenced", "memory"), ("2", "yes", "01")),
}


def test_an_unknown_word_counts_as_not_stated() -> None:
    undeclared = declared.of_variant(stating("timer_overhead", "fenced", {}), "fenced")
    assert undeclared == Declared()
    for word in ("", "Overhead", "overhead; cost", "1", "\x00", "estimand", "🙂", "x" * 10_000):
        stated = {"estimand": word, "placement": "two-cpus", "other_tasks": "5"}
        found = declared.of_variant(stating("timer_overhead", "fenced", stated), "fenced")
        assert found == undeclared, word[:20]
    for key, words in UNKNOWN.items():
        for word in words:
            stated = {"estimand": "cost", key: word}
            found = declared.of_variant(stating("system_call", "getppid", stated), "getppid")
            assert found == Declared(), (key, word[:20])


def test_processes_that_contradict_each_other_state_nothing() -> None:
    recording = stating("system_call", "getppid", {})
    words = ("overhead", "cost")
    processes = tuple(MappingProxyType({"variant.getppid.estimand": word}) for word in words)
    torn = dataclasses.replace(recording, processes=processes)
    assert declared.estimand(torn, "getppid") is Estimand.COST
    assert declared.of_variant(torn, "getppid") == declared.of_variant(recording, "getppid")


def test_whatever_a_recording_declares_it_has_a_result() -> None:
    recording = parse(OLD.read_bytes())
    for word in (*(each.value for each in Estimand), "nonsense"):
        stated = {**recording.conditions, "variant.fenced.estimand": word}
        stated |= {"variant.fenced.other_tasks": "7", "variant.fenced.placement": "two-cpus"}
        result = result_of(dataclasses.replace(recording, conditions=MappingProxyType(stated)))
        assert result.sentence(), word


# What is so


def test_a_figure_asks_for_what_its_c_kernel_measures() -> None:
    listing = {(kernel, each.name): each.declared.estimand for kernel, each in listed()}
    asked = {(spec.kernel, name): spec.estimand for specs in LABS.values() for spec in specs
             for name in spec.variants if spec.kernel in KERNELS}  # fmt: skip
    assert asked and asked == {key: listing[key] for key in asked}


def test_a_c_kernel_of_ones_own_declares_too(tmp_path: Path) -> None:
    source = tmp_path / "mine.c"
    source.write_text(
        f'#include "{FOLDER / "own_pair.h"}"\n'
        "TICKLAB_INLINE uint64_t pair(long k)\n"
        "{ uint64_t link = 1; const uint64_t begin = counter_begin(); ADDITIONS(link, k);"
        " return counter_end() - begin; }\n"
        "MEASURE_OWN_PAIR(pair)\n"
    )
    assert [each.declared for each in variants.of_kernel(str(source))] == [
        Declared(Estimand.COST, 1)
    ]


PRINTS = "#include <stdio.h>\nint main(void) { %s return 0; }\n"
TABLE = 'printf("variant,about,missing,estimand\\n");'


@pytest.mark.parametrize(
    "body",
    [
        "for (;;) ;",
        'for (;;) puts("variant,about,missing");',
        f'{TABLE} for (int i = 0; i < 200000; i++) printf("x");',
        f'{TABLE} printf("own,short\\n");',
        f'{TABLE} printf("a,b,c,first-time,more\\n");',
        f'{TABLE} printf("a,b,c,first-time\\n"); return 1;',
        "__builtin_trap();",
    ],
)
def test_a_cell_that_lists_no_table_is_left_to_the_run(
    body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(variants, "TIME_LIMIT_S", 0.3 if "(;;)" in body else 20)
    begin = time.monotonic()
    assert not variants.has_first_time(Plan("mine", source=PRINTS % body))
    assert time.monotonic() - begin < 20


def test_a_table_that_declares_nothing_is_read_as_well() -> None:
    body = r'printf("# batch: 1\nvariant,about,missing\nown,\"a, b\",\"\"\n");'
    unasked, (own,) = variants.listing_of(Plan("mine", source=PRINTS % body))
    assert own == variants.Listed("own", "a, b")
    assert unasked == variants.Unasked(DEFAULT_SAMPLES, DEFAULT_WARMUP)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_c_kernel_does_unasked_what_it_lists(kernel: str) -> None:
    unasked, listed = variants.listing_of(Plan(kernel))
    first = listed[0].name
    done = call(build(Plan(kernel)).path, "--variant", first)
    assert done.returncode == 0, done.stderr
    stated = conditions_of(done.stdout)
    assert int(stated["samples"]) == unasked.samples
    assert int(stated["warmup"]) == unasked.warmup


def test_notebook_panel_and_terminal_take_as_many_samples(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    declared_options.add_line(parser)
    lab = Session("05-task-creation", tmp_path)
    for kernel in ("task_creation", "timer_overhead"):
        number = variants.listing_of(Plan(kernel))[0].samples
        assert plan_of_line(parser.parse_args([kernel])).samples == number
        assert plan_of(kernel).samples == number
        form = lab.panel(kernel, save=kernel).form
        assert form is not None and form.plan().samples == number
    assert (
        variants.listing_of(Plan("task_creation"))[0].samples
        < variants.listing_of(Plan("timer_overhead"))[0].samples
    )


def test_a_cell_of_c_takes_the_samples_that_it_states() -> None:
    body = r'printf("# samples: 70\nvariant,about,missing\nown,\"\",\"\"\n");'
    assert plan_of_cell("mine", PRINTS % body).samples == 70
    assert plan_of_cell("mine --samples 90", PRINTS % body).samples == 90
    assert plan_of_cell("mine", "no C").samples == DEFAULT_SAMPLES


#: Sizes eight times apart bend their lines: the C kernels say in how many runs.
CLOSE = ("page_fault.c", "own_page_fault.h", "switch_footprint.c", "own_footprint.h")
PLANNED = re.compile(r"^ *static const long \w*batches\[\] = \{([\d, ]+)\};", re.MULTILINE)


def test_a_plan_of_sizes_shows_a_bend() -> None:
    """Four sizes over a factor of eight, wherever several sizes of a sample make a line."""
    sources = {source.name: source.read_text() for source in FOLDER.glob("*.[ch]")}
    found = {
        name: [int(size) for size in sizes.split(",")]
        for name, source in {**sources, "mine.c": source_of_new("mine")}.items()
        for sizes in PLANNED.findall(source)
    }
    assert set(KERNELS) <= {Path(name).stem for name in found} and "mine.c" in found
    for name, sizes in found.items():
        several = [size for size in sizes if size > 0]
        steps = (1, 2, 3, 4) if name in CLOSE else (1, 2, 4, 8)
        assert len(several) == 1 or several == [several[0] * n for n in steps], name


def _allowed(status: Path) -> frozenset[int]:
    lines = status.read_text().splitlines()
    words = next(line.split()[1] for line in lines if line.startswith("Cpus_allowed_list"))
    return frozenset(cpu_list(words) or ())


def _tasks(pid: int) -> dict[int, frozenset[int]]:
    """The CPUs that each task of a program may use: its threads', then its children's."""
    threads = [int(each.name) for each in Path(f"/proc/{pid}/task").iterdir()]
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {
        task: _allowed(Path(f"/proc/{task}/status")) for task in [*threads, *map(int, children)]
    }


@contextmanager
def _measuring(program: Program, variant: str) -> Iterator[int]:
    command = [str(program), "--variant", variant, "--samples", "1000000", "--batch", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            process.stderr.readline()  # it tells its progress: all tasks are in their places
            yield process.pid
        finally:
            process.kill()


OF_TASKS = [
    *(("process_switch", name) for name in ("pipe-pinned", "self-pipe", "pipe-unpinned")),
    *(("process_switch", name) for name in ("pipe-two-cpus", "pipe-in-turn", "eventfd-pinned")),
    *(("thread_switch", name) for name in ("condvar", "condvar-alone", "condvar-two-cpus")),
    *(("thread_switch", name) for name in ("futex", "futex-two-cpus", "yield", "bare-mutex")),
    *(("switch_footprint", name) for name in ("processes-4-0", "threads-8-16k", "alone-16k")),
    ("system_call", "getppid"),
]  # fmt: skip


@LINUX
@TWO_CPUS
@pytest.mark.parametrize(("kernel", "variant"), OF_TASKS)
def test_tasks_are_as_many_and_where_the_variant_declares(kernel: str, variant: str) -> None:
    listing = next(each for each in variants.of_kernel(kernel) if each.name == variant)
    if listing.missing:
        pytest.skip(listing.missing)
    with _measuring(build(Plan(kernel)).path, variant) as pid:
        seen = []
        for _ in range(5):
            seen.append(_tasks(pid))
            time.sleep(0.02)
    assert {len(each) for each in seen} == {1 + listing.declared.other_tasks}
    for places in seen:
        mine = places.pop(next(iter(places)))
        theirs = list(places.values())
        match listing.declared.placement:
            case Placement.ONE_CPU:
                assert len(mine) == 1 and all(each == mine for each in theirs)
            case Placement.TWO_CPUS:
                assert len(mine) == 1 and [len(each) for each in theirs] == [1]
                assert not mine & theirs[0]
            case Placement.CPUS_IN_TURN:  # it may move between two looks
                assert all(len(each) == 1 for each in (mine, *theirs))
            case Placement.ANYWHERE:  # its baseline may have a place
                assert all(len(each) > 1 for each in theirs or [mine])
