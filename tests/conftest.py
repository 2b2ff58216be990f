"""What every test shares: a cache of its own, so that no test meets what another run left; and who
runs beside whom, where there are two workers."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import hypothesis
import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from grader.judging import flags
from labs.recording.file import keeping_recordings
from labs.results import stopping
from support import given_times as given_times_of_runs
from support.c_programs import BUILT, FOLDER, Program, compile_c

# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile("any machine", deadline=None)
hypothesis.settings.load_profile("any machine")


def _ignore_for_ourselves_only() -> None:
    """Under `nohup`, or in the background of a script, signals are ignored, and programs that a
    test starts would inherit that. A handler that does nothing is not inherited."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


_ignore_for_ourselves_only()

#: Files whose tests measure on this machine. They run one after the other on one worker, so that a
#: measurement has at most one busy CPU beside it, as in a class.
MEASURING = """
    broken broken_pair ckernel conditions doctor first_steps first_time
    kernels_c measure measured_class new no_pinning notebooks own_exercises panel panel_runs
    pitfalls project_code session survey switches
"""


#: Files that take more than four seconds of computing, or start many other programs, such as
#: nbgrader, a browser, an installation, a compiler or our own commands. The longest comes first, so
#: that no worker is left with it at the end. `make quick` does not even read them.
LONG = """
    browser pages labs_through_nbgrader disassembly exchange kills interrupted replay rebuild
    other_platforms wheel both_ways on_dask collect_command sandbox executed_cells feedback
    postgresql kernel ended_runs feedback_page report_browser vscode_browser large_lists accessible
    start fuzz live_server live_browser live_hostile declared slips setup release pitfalls_page
    formgrader_browser same_words conclusions not_run adding_a_lab site reduced_by_hand hand_in
    hostile wrong_submissions accepted_values trials own_question system_calls page_faults own_c
    adapter worker own_order student_pages exit_status compare ablation own_run c_handed_in waiting
    cut_short own_report c_of_students no_counter preempted numbers_in_pictures round_trips
    own_switch all_steps question tried_operations another_exchange class_accounts evidence
    collect_again clocks pitfalls_of_first_times bad_json collect_readings own_loop own_pages
    readers collect_class rerun own_question_calls first_cpus repair own_creation memory_ladder
    own_call inherited own_working_set fixtures several report_fuzz completion stack_places
    pitfalls_of_calls compared show own_questions taught_rule pitfalls_of_procedures
"""

#: Folders with files of several seconds, because nbgrader or other processes run there. They come
#: before those whose files take a second or two.
STARTING = ("with_nbgrader", "class_grading", "hostile", "commands", "project")


def file_of(nodeid: str) -> str:
    """The file of a test, as it is named in these lists."""
    return nodeid.split("::")[0].rpartition("/")[2].removeprefix("test_").removesuffix(".py")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make quick` imports no file of which it runs no test."""
    of_quick = {*LONG.split(), *MEASURING.split()}
    left_out = collection_path.suffix == ".py" and file_of(collection_path.name) in of_quick
    return True if left_out and "not slow" in config.option.markexpr else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make quick` leaves out what is marked here or as slow. What takes longest comes first."""
    first = [*MEASURING.split(), *LONG.split()]

    def place(item: pytest.Item) -> tuple[int, bool]:
        name = file_of(item.nodeid)
        return [*first, name].index(name), item.path.parent.name not in STARTING

    items.sort(key=place)
    for item in items:
        if file_of(item.nodeid) in MEASURING.split():
            item.add_marker(pytest.mark.measuring)
        if file_of(item.nodeid) in LONG.split():
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """What was collected stays, so nothing has to look through it again and again."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


class ByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Shares files out whole, so that what a file sets up is set up once."""

    def _split_scope(self, nodeid: str) -> str:
        name = file_of(nodeid)
        return "measuring" if name in MEASURING.split() else name


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    """Which worker runs which tests, with `-n`."""
    # Else the files with the most tests would come first.
    config.option.loadscopereorder = False
    return ByFile(config, log)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the kit keeps goes to a folder of this session; children inherit it. Only programs are
    shared by all workers and runs: their names are hashes of all that went into them."""
    base, worker = tmp_path_factory.getbasetemp(), os.environ.get("PYTEST_XDIST_WORKER")
    folder = (base.parent / "caches" / worker) if worker else base / "caches" / "own"
    folder.mkdir(parents=True)
    (BUILT / "programs").mkdir(parents=True, exist_ok=True)
    (folder / "programs").symlink_to(BUILT / "programs", target_is_directory=True)
    before = os.environ.get("TICKLAB_CACHE")
    os.environ["TICKLAB_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["TICKLAB_CACHE"]
    else:
        os.environ["TICKLAB_CACHE"] = before


@pytest.fixture(scope="module", autouse=True)
def _as_many_processes_as_planned(request: pytest.FixtureRequest) -> Iterator[None]:
    """No run replaces the processes that it lost to another program, so tests may count them."""
    with pytest.MonkeyPatch.context() as patched:
        if file_of(request.node.nodeid) != "adaptive":
            patched.setattr(stopping, "PROCESSES_LEFT", 0.0)
            patched.setattr(stopping, "SAMPLES_LEFT", 0.0)
        yield


#: Folders in which the kit's own processes are forks, and the files there that start them in full,
#: because they are about these processes.
FORKING = ("with_nbgrader", "class_grading", "own_report")
STARTING_IN_FULL = ("adapter", "ended_runs")
JUDGING = ("judging", "figures")


@pytest.fixture(scope="module", autouse=True)
def _programs_are_forks(request: pytest.FixtureRequest) -> Iterator[None]:
    """A process that judges takes a second and a half to start, and a fork hardly anything."""
    named = file_of(request.node.nodeid)
    if request.path.parent.name not in FORKING or named in STARTING_IN_FULL:
        yield
        return
    from support import forked  # only there, because it imports Jupyter

    with forked.programs():
        yield


@pytest.fixture(scope="module", autouse=True)
def _recordings_are_read_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """What judges the same saved runs again and again reads and fits each of them once."""
    with keeping_recordings() if request.path.parent.name in JUDGING else nullcontext():
        yield


@pytest.fixture(scope="session")
def program_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Program]:
    """The program of a C kernel, built with -O2 when it is first asked for."""
    folder = tmp_path_factory.mktemp("programs")
    built: dict[str, Program] = {}

    def program(kernel: str) -> Program:
        if kernel not in built:
            built[kernel] = compile_c(folder, "-O2", source=FOLDER / f"{kernel}.c")
        return built[kernel]

    return program


@pytest.fixture
def given_times(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Has runs take times that are known, whatever else the machine does.

    A test may add what a variant costs, in ticks.
    """
    costs = dict[str, int]()
    given_times_of_runs.give(monkeypatch, costs)
    return costs


@pytest.fixture
def as_students_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has saved runs count as runs that a student measured, and not as copies of the project's."""
    monkeypatch.setattr(flags, "saved_runs", frozenset)
