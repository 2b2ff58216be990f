"""Do the readers stand whatever is handed in? 100,000 bad inputs: no crash, no hang, no memory.

Three readers: of recordings, of figures.json, and of whole lab folders, which are graded. Most
inputs are changed submissions of tests/fixtures; those that reach new parts of the code are changed
further (bench.fuzz.guide). The others are made up from a grammar (bench.fuzz.grammar). What fails
is kept under build/fuzz/.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import FrameType

import hypothesis

from bench.fuzz import checks, good_inputs, grammar, largest
from bench.fuzz.good_inputs import Submission
from bench.fuzz.guide import Guide, Input
from bench.fuzz.mutations import Mutator
from bench.report import must_hold, say, verdict
from testing.paths import REPOSITORY

INPUTS, INPUTS_QUICK = 100_000, 4_000
#: Of every ten inputs so many: two readers of single files, and the whole way of a submission,
#: changed or made up.
SHARES = {"recordings": 4, "figures": 2, "submissions": 3, "grammar": 1}
PART = 1_000

MOST_SECONDS = 1.0
MOST_MEGABYTES = 200
HANGS_S = 60

KEPT = REPOSITORY / "build" / "fuzz"


class Hangs(RuntimeError):
    """An input that had not been read after a minute."""


@dataclass
class Outcome:
    """What became of a part of the inputs: how many, the slowest, the memory, what went wrong."""

    inputs: int = 0
    edges: int = 0
    slowest_s: float = 0.0
    megabytes: float = 0.0
    wrong: list[str] = field(default_factory=list)


def run(quick: bool) -> bool:
    """All readers, in as many processes as there are CPUs."""
    inputs = INPUTS_QUICK if quick else INPUTS
    must_hold(
        f"{inputs:,} bad inputs: no crash, none over {MOST_SECONDS:g} s, no process over "
        f"{MOST_MEGABYTES} MB, errors that name the place"
    )
    outcomes: dict[str, list[Outcome]] = {}
    # Large inputs in a process of their own: its memory is then what they took.
    processes = concurrent.futures.ProcessPoolExecutor
    with processes(os.cpu_count()) as pool, processes(1) as another:
        waiting = {pool.submit(part, *each): each[0] for each in _parts(inputs)}
        waiting[another.submit(large)] = "large"
        for done in concurrent.futures.as_completed(waiting):
            outcomes.setdefault(waiting[done], []).append(done.result())
    return _report(outcomes)


def _parts(inputs: int) -> Iterator[tuple[str, int, int]]:
    """Reader, seed and number of inputs of each part."""
    for kind, share in SHARES.items():
        left = inputs * share // sum(SHARES.values())
        for seed, begin in enumerate(range(0, left, PART)):
            yield kind, seed, min(PART, left - begin)


def _report(outcomes: dict[str, list[Outcome]]) -> bool:
    say(f"   {'':<14}{'inputs':>8}{'edges':>8}{'slowest':>10}{'memory':>10}{'wrong':>7}")
    held = True
    for kind, parts in outcomes.items():
        wrong = list(dict.fromkeys(message for each in parts for message in each.wrong))
        slowest = max(each.slowest_s for each in parts)
        megabytes = max(each.megabytes for each in parts)
        held &= not wrong and slowest <= MOST_SECONDS and megabytes <= MOST_MEGABYTES
        say(
            f"   {kind:<14}{sum(each.inputs for each in parts):>8,}"
            f"{max(each.edges for each in parts):>8,}{slowest:>8.2f} s{megabytes:>7.0f} MB"
            f"{len(wrong):>7}"
        )
        for message in wrong[:20]:
            say(f"      {message}")
    made = sum(each.inputs for parts in outcomes.values() for each in parts)
    return verdict(held, f"{made:,} inputs")


def part(kind: str, seed: int, count: int) -> Outcome:
    """`count` inputs for one reader, all of them decided by `seed`."""
    outcome = Outcome()
    if kind == "submissions":
        _submissions(seed, count, outcome)
    elif kind == "grammar":
        _made_up(seed, count, outcome)
    else:
        _files(kind, seed, count, outcome)
    outcome.megabytes = _megabytes()
    return outcome


def large() -> Outcome:
    """Inputs as large as they may be, and larger."""
    outcome = Outcome()
    for name, check in largest.cases():
        _try(check, outcome, lambda: b"", f"large {name}")
    outcome.megabytes = _megabytes()
    return outcome


def _files(kind: str, seed: int, count: int, outcome: Outcome) -> None:
    of_recordings = kind == "recordings"
    seeds = good_inputs.recordings() if of_recordings else good_inputs.figure_files()
    check = checks.recording if of_recordings else checks.figures_file
    mutator, guide = Mutator(f"{kind} {seed}", seeds), Guide(seeds, seed)
    for _ in range(count):
        parent = guide.next()
        by_structure = not of_recordings and mutator.random.random() < 0.6
        content = mutator.changed_figures(parent) if by_structure else mutator.changed(parent)
        _guided(guide, content, check, outcome, content, kind)
    outcome.edges = len(guide.edges.reached)


def _submissions(seed: int, count: int, outcome: Outcome) -> None:
    seeds = good_inputs.submissions()
    recordings = tuple(
        content for each in seeds for name, content in each.files if name.endswith(".csv")
    )
    mutator, guide = Mutator(f"submissions {seed}", recordings), Guide(seeds, seed)
    for _ in range(count):
        changed = changed_submission(guide.next(), mutator)
        content = _joined_files(changed)
        _guided(guide, changed, checks.submission, outcome, content, "submissions")
    outcome.edges = len(guide.edges.reached)


def _made_up(seed: int, count: int, outcome: Outcome) -> None:
    """Submissions by hypothesis, which looks for the smallest that fails."""
    failed: list[bytes] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(grammar.submissions())
    def examine(made: Submission) -> None:
        begin = time.process_time()
        failed[:] = [_joined_files(made)]
        checks.submission(made)
        seconds = time.process_time() - begin
        outcome.inputs += 1
        outcome.slowest_s = max(outcome.slowest_s, seconds)

    _try(examine, outcome, lambda: failed[0], "grammar")


def _joined_files(submitted: Submission) -> bytes:
    """All files of a submission, one after the other."""
    return b"".join(f"\n=== {name}\n".encode() + content for name, content in submitted.files)


def changed_submission(submitted: Submission, mutator: Mutator) -> Submission:
    """The submission with one or two of its files changed."""
    files = dict(submitted.files)
    for _ in range(mutator.random.choice([1, 1, 2])):
        name = mutator.random.choice(list(files))
        content = files[name]
        if name.endswith(".json") and mutator.random.random() < 0.9:
            files[name] = mutator.changed_figures(content)
        else:
            # Few changes: most of the recording stays, and there is something to judge.
            files[name] = mutator.changed(content, most=2)
    return replace(submitted, files=tuple(files.items()))


def _guided(
    guide: Guide[Input],
    changed: Input,
    check: Callable[[Input], None],
    outcome: Outcome,
    content: bytes,
    kind: str,
) -> None:
    """Check `changed` where the tracer sees it; what seems slow once more without the tracer."""
    seconds = _try(
        lambda: guide.try_out(changed, lambda: check(changed)), outcome, lambda: content, kind
    )
    if seconds > MOST_SECONDS / 2:
        seconds = _try(lambda: check(changed), None, lambda: content, kind)
    outcome.slowest_s = max(outcome.slowest_s, seconds)
    if seconds > MOST_SECONDS:
        outcome.wrong.append(f"{kind}: takes {seconds:.1f} s [{_keep(kind, content)}]")


def _try(
    work: Callable[[], None], outcome: Outcome | None, content: Callable[[], bytes], kind: str
) -> float:
    """Do the work; returns the seconds of CPU time that it took. What it raises is noted."""
    begin = time.process_time()
    signal.signal(signal.SIGALRM, _hangs)
    # Many made-up inputs are tried as one.
    signal.alarm(HANGS_S if kind != "grammar" else 60 * HANGS_S)
    try:
        work()
    except Exception as error:  # whatever it is: that is what is looked for
        sys.settrace(None)
        if outcome is not None:
            place = checks.place_of(error)
            what = str(error)[:300] if isinstance(error, checks.Wrong) else f"{error!r:.300}"
            kept = _keep(kind, content())
            if not any(what in message for message in outcome.wrong):
                outcome.wrong.append(f"{kind}: {place}: {what} [{kept}]")
    finally:
        signal.alarm(0)
    seconds = time.process_time() - begin
    if outcome is not None and kind != "grammar":  # which is many inputs
        outcome.inputs += 1
        if kind.startswith("large"):
            outcome.slowest_s = max(outcome.slowest_s, seconds)
    return seconds


def _hangs(number: int, frame: FrameType | None) -> None:
    raise Hangs(f"not done after {HANGS_S} s")


def _keep(kind: str, content: bytes) -> str:
    """Lay the input that failed under build/fuzz/; returns the name of its file."""
    name = f"{kind.split()[0]}-{hashlib.sha256(content).hexdigest()[:12]}"
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / name).write_bytes(content)
    return name


def _megabytes() -> float:
    """The most memory that this process has had."""
    # In KB on Linux, in bytes on macOS.
    per_unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / per_unit
