"""Comparisons and conclusions, and what a student's own question has to show."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from grader.evidence import c_calls, c_tree, observed
from grader.evidence.other_numbers import told_by
from grader.evidence.sources import own_source
from grader.figures.case import OF_USUAL_SLIPS, Case, is_number
from grader.figures.expected import compared_as
from grader.figures.spec import FigureSpec, Quantity
from grader.figures.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, pitfall
from labs import paths
from labs.recording.file import Recording
from labs.results.result import Result, sensible
from labs.results.results_compared import compared_at_one_clock
from labs.units import rounded, rounded_apart


@pitfall(
    symptom="The conclusion does not fit the figures.",
    misconception="It was expected, not read off the figures.",
    experiment="Which conclusion fits?",
    seen_in="report A: thread switches cost more in the conclusion, less in the table",
    explains=MistakeKind.RELATION,
    yields_to="trend-inside-the-noise",
)
def conclusion_against_table(case: Case) -> str | None:
    """A conclusion that the student's own figures contradict.

    The evidence never says which conclusion is right: the student is to find it in the data.
    """
    spec, chosen = case.spec, case.submitted
    if spec.quantity is not Quantity.CHOICE or case.right or chosen is None:
        return None
    if chosen not in range(1, len(spec.choices) + 1):
        most = len(spec.choices)
        return f"You chose {rounded(chosen)}. The lab lists the conclusions 1 to {most}."
    choice = spec.choices[int(chosen) - 1]
    if choice.known:
        return (
            f'You named "{choice.text}". Something else speaks against that figure: '
            f"{choice.known}. {_where_to_look(case)}"
        )
    if not case.accepted_values:
        return None  # a measurement without a figure bears out no conclusion
    results = [compared_as(spec, case.results[name]) for name in spec.operands]
    pairs = zip(spec.operands, results, strict=True)
    measured = "; ".join(f"{name} {_with_interval(result)}" for name, result in pairs)
    return (
        f'You concluded {rounded(chosen)}: "{choice.text}". You measured {measured} '
        f"(95 % intervals).{_between(spec, results)} {_where_to_look(case)}"
    )


#: From this answer on a wrong one is told what to type. Before it, students look for it themselves.
TOLD_FROM = 2


def _where_to_look(case: Case) -> str:
    """What to do after a wrong answer: the line that shows the right one comes after two."""
    if (case.figure.tries or 1) < TOLD_FROM:
        return "Compare once more."
    return f"Look at {case.spec.look_at}."


def _between(spec: FigureSpec, results: list[Result]) -> str:
    """The intervals that decide which of two is larger, as numbers: their own may well overlap."""
    if not spec.which_is_larger or any(each.estimate is None for each in results):
        return ""
    found = compared_at_one_clock(results[0], results[1])
    gap = rounded_apart(found.difference, *found.difference_interval, 0.0)
    shown = f" The first minus the second is {gap[0]} {found.unit} ({gap[1]} to {gap[2]})"
    if found.ratio is None or found.ratio_interval is None:
        return f"{shown}."
    factor = rounded_apart(found.ratio, *found.ratio_interval, 1.0)
    return f"{shown}, their ratio {factor[0]} ({factor[1]} to {factor[2]})."


def _with_interval(result: Result) -> str:
    if result.estimate is None:
        return "no figure"
    value, low, high = sensible(result.estimate)
    return f"{value} {result.unit} ({low} to {high})"


@pitfall(
    symptom="Your conclusion explains a difference that the data do not show.",
    misconception="If the interval of their difference holds zero, nobody can say which is larger.",
    experiment="Measure both once more with lab.compare: does the order stay?",
    seen_in="report A: cost increases with arguments, though three cost more than four and five",
    explains=MistakeKind.RELATION,
    tells_answer=True,
)
def trend_inside_the_noise(case: Case) -> str | None:
    """A conclusion about a difference that the intervals do not show.

    Its words say which conclusion is right, so that it is reported only after the lab is handed in.
    """
    spec = case.spec
    if spec.quantity is not Quantity.CHOICE or case.right or len(spec.operands) != 2:
        return None
    if case.submitted is None or case.submitted not in range(1, len(spec.choices) + 1):
        return None
    chosen = spec.choices[int(case.submitted) - 1]
    if chosen.known or case.expected is None or case.expected.value != len(spec.choices):
        return None  # only the last conclusion is that the data do not decide
    first, second = (compared_as(spec, case.results[name]) for name in spec.operands)
    if first.estimate is None or second.estimate is None:
        return None
    found = compared_at_one_clock(first, second)
    if found.distinguishable:
        return None
    number = rounded(case.submitted)
    return f'You concluded {number}: "{chosen.text}". By your data {found.sentence()}'


@pitfall(
    symptom="The ratio is upside down.",
    misconception="You did not first read off the table which of the two costs more.",
    experiment="Say 'A takes so many times as long as B', and divide A by B.",
    seen_in="report A: its conclusion says the opposite of its table",
    explains=MistakeKind.RELATION,
)
def ratio_upside_down(case: Case) -> str | None:
    """A ratio whose two operands are exchanged."""
    return told_by(case, ratio_upside_down.code)


@pitfall(
    symptom="Two mechanisms are compared, not a process with a thread.",
    misconception="A pipe and a mutex do different work in the OS kernel.",
    experiment="Divide by an exchange by pipe between threads.",
    seen_in="report D: a pipe for processes, a mutex for threads",
    explains=MistakeKind.RELATION,
)
def mechanisms_differ(case: Case) -> str | None:
    """A ratio of two mechanisms where two address spaces were to be compared."""
    if case.spec.quantity is not Quantity.RATIO or case.right:
        return None
    for over, under in _pairs_of_mechanisms(case):
        ratios = [a / b for a in _values_above_nothing(over) for b in _values_above_nothing(under)]
        if any(is_number(case, ratio, OF_USUAL_SLIPS) for ratio in ratios):
            return (
                f"You gave {case.as_submitted()}: that is {over.spec.id} over {under.spec.id}. "
                f"The lab asks for {case.spec.asked}."
            )
    return None


def _pairs_of_mechanisms(case: Case) -> Iterator[tuple[Case, Case]]:
    """The right pair, with one of its two figures replaced by another figure."""
    if len(case.others) < 2:
        return
    over, under = case.others[:2]
    for other in case.compare_with:
        yield over, other
        yield other, under


def _values_above_nothing(case: Case) -> list[float]:
    """What the figure is by its recording and as it was handed in, above nothing."""
    values = [each.value for each in case.accepted_values]
    values += [case.submitted] if case.submitted is not None else []
    return [value for value in values if value > 0]


#: What may move a cost: the condition in the recording, and its name in `lab.measure`.
_MAY_MOVE = {
    "source.sha256": "the C",
    "flags": "flags",
    "batch": "batches",
    "cpu.asked": "cpu",
    "warmup": "warmup",
}
#: From this change of the busy CPUs on, another program may be what was changed.
_OTHER_LOAD = 0.3


@pitfall(
    level=Level.INTERPRETATION,
    symptom="The two runs do not differ in exactly one thing.",
    misconception="After several changes, nobody knows which of them moved the cost; without any, "
    "no threat was tried.",
    experiment="Change the one thing that you named, keep all else, and measure again.",
    seen_in="report E: no second run under other conditions",
)
def not_one_change(case: Case) -> str | None:
    """A threat tried by two runs which do not differ in one thing: in nothing, or in more."""
    if case.changed_from is not None:
        return _nothing_changed(case, case.changed_from)
    if case.spec.quantity is not Quantity.CHOICE or len(case.others) != 2:
        return None
    first, second = case.others
    if first.spec.variants != second.spec.variants or first.spec.kernel != KERNEL:
        return None
    return _nothing_changed(first, second) or _several_changed(first, second)


def _nothing_changed(tested: Case, before: Case) -> str | None:
    """That no second run was measured, or the same one again."""
    one, other = tested.recording, before.recording
    if tested.figure.recording == before.figure.recording:
        return f"Both costs are of {tested.figure.recording}: nothing was measured a second time."
    if one.samples_sha256 == other.samples_sha256:
        return (
            f"{tested.figure.recording} and {before.figure.recording} hold the same samples: "
            "nothing was measured a second time."
        )
    moving = _changed(one, other, _MAY_MOVE)
    if not moving and _options(one) == _options(other) and not _other_load(one, other):
        return (
            f"{tested.figure.recording} and {before.figure.recording} were measured with the same "
            "C and the same settings: nothing was changed."
        )
    return None


def _several_changed(tested: Case, before: Case) -> str | None:
    one, other = tested.recording, before.recording
    moving = _changed(one, other, _MAY_MOVE)
    if len(moving) < 2:
        return None
    listed = "; ".join((*moving, *_changed(one, other, {"variants": "variants"})))
    return (
        f"{tested.figure.recording} and {before.figure.recording} differ in more than one thing: "
        f"{listed}."
    )


def _changed(one: Recording, other: Recording, settings: dict[str, str]) -> list[str]:
    """The settings that differ, each with its value in the `other` and in the `one` run."""
    found = []
    for key, name in settings.items():
        now, before = (" ".join(dict.fromkeys(each.condition(key))) for each in (one, other))
        if now != before:
            shown = key != "source.sha256" and now and before
            found.append(f"{name} ({before} and {now})" if shown else name)
    return found


def _options(recording: Recording) -> list[str]:
    """The words of the command without the C that it measures, whose hash is compared."""
    return " ".join(recording.condition("command")).split()[3:]


def _other_load(one: Recording, other: Recording) -> bool:
    """Whether other programs used the machine more in one run: this can be what was changed."""
    now, before = (each.number("cpus.busy") for each in (one, other))
    return now is not None and before is not None and abs(now - before) > _OTHER_LOAD


@pitfall(
    symptom="Nothing shows that the operation happened as often as the figure claims.",
    misconception="A program that fails early is fast too, and what it says of itself is no count.",
    experiment="Leave one operation out of ten. Does your count notice it?",
    seen_in="report C: a read that fails each time",
    yields_to="no-c-to-read",
)
def operations_not_counted(case: Case) -> str | None:
    """An operation of a student that nothing shows: it was not counted, or only claimed."""
    if not asks(case):
        return None
    itself = claims_by_itself(case)
    if itself is not None:
        return f"Your C {itself}, so its counts are only its own claim."
    trials = trials_of(case)
    if not trials:
        return "The recording does not state how many operations were counted in each process."
    for trial in trials:
        if trial.idle:
            return (
                f"Where nothing was done, your function counted {rounded(trial.idle)} operations."
            )
        if trial.of_operation != trial.tried:
            return (
                f"After the last sample the run made {rounded(trial.tried)} operations, and your "
                f"function counted {rounded(trial.of_operation)}."
            )
    held, counted = in_samples(case)
    if counted is None or counted < held:
        return f"The samples hold {held:,} operations, and {counted or 0:,} were counted."
    return None


@pitfall(
    symptom="The only evidence of the operation is its own word.",
    misconception="A counter beside a call shows that its line was reached.",
    experiment="Take the call out. If the count rises, count where the effect arrives.",
    seen_in="report D: switches that only its loop counts",
    yields_to="operations-not-counted, no-c-to-read",
)
def counts_itself(case: Case) -> str | None:
    """Evidence of an operation that is only the operation's own book: it counts itself."""
    if not asks(case):
        return None
    operations = observed.seen(case, "operations")
    without, calls = observed.seen(case, "counted_without"), observed.seen(case, "system_calls")
    if operations and without is not None and without >= operations:
        return (
            f"The run left out the calls in {operations:.0f} operations, and your count saw "
            f"{without:.0f}.{_traps(operations, calls)}"
        )
    named = _answers_itself(case) if operations and calls == 0 else None
    if named is None or not operations:
        return None
    return f"Your count saw operations that call {named}.{_traps(operations, calls)}"


def _traps(operations: float, calls: float | None) -> str:
    """What the OS kernel got, as a sentence; '' if it is not known."""
    if calls is None:
        return ""
    return f" From {operations:.0f} whole ones the OS kernel got {calls:.0f} system calls."


def _answers_itself(case: Case) -> str | None:
    """A call in the operation that only the OS kernel can answer, as text; None if there is none.

    A clock may be read without it, and a read may be answered from a buffer.
    """
    text = own_source(case)
    arguments = _arguments(text) if text is not None else ()
    if text is None or len(arguments) < 2:
        return None
    return next(iter(c_calls.always_enter(c_tree.reached_from(text, arguments[1]))), None)


@pitfall(
    symptom="The baseline does what the question is about, so the difference leaves it out.",
    misconception="A baseline is what is left without the operation: the loop, and what is needed "
    "around it.",
    experiment="Make the baseline empty and measure again. What was lost before?",
    seen_in="comparisons of two ways, reported as the cost of one",
    yields_to="operations-not-counted",
)
def baseline_does_it_too(case: Case) -> str | None:
    """A baseline that holds the operation itself: what is asked about is subtracted from itself."""
    if not asks(case):
        return None
    for trial in trials_of(case):
        if trial.of_baseline:
            return (
                f"After the last sample the run made {rounded(trial.tried)} baselines, and your "
                f"function counted {rounded(trial.of_baseline)} operations in them."
            )
    return _same_calls(case) or _nearly_all(case)


#: From such a share of the operation on, a baseline leaves nothing to speak of. An empty loop takes
#: fewer core cycles.
NEARLY_ALL, MOST_CYCLES_OF_LOOP = 0.8, 8.0


def _same_calls(case: Case) -> str | None:
    """Whether the baseline makes as many system calls as the operation."""
    operations, calls = observed.seen(case, "operations"), observed.seen(case, "system_calls")
    of_baseline = observed.seen(case, "baseline_system_calls")
    if not operations or not calls or of_baseline is None or of_baseline < calls:
        return None
    return (
        f"From {operations:.0f} of your operations the OS kernel got {calls:.0f} system calls, and "
        f"from {operations:.0f} baselines {of_baseline:.0f}."
    )


def _nearly_all(case: Case) -> str | None:
    """Whether the baseline takes nearly as long as the operation from which it is subtracted."""
    net, cycle = case.result.net, case.result.clock.core_cycle_ticks
    if net is None or net.baseline is None or not cycle:
        return None
    baseline = net.times * net.baseline.value
    if baseline <= MOST_CYCLES_OF_LOOP * cycle or baseline < NEARLY_ALL * net.unsubtracted.value:
        return None
    return (
        f"One operation takes {rounded(net.unsubtracted.value / cycle)} core cycles as timed, and "
        f"the baseline that is subtracted takes {rounded(baseline / cycle)}."
    )


# What lab 11's C kernel counted of a student's operation, and whether the kit made the count.
#
# `kernels_c/own_question.h` compares the count of the student's function with each sample, and
# tries the function after the last one. What a C prints by itself is its own claim, and no count.


KERNEL, MACRO, OPERATION, OTHER = "own_question", "MEASURE_OWN_QUESTION", "operation", "other"

#: Names by which a C writes to its standard output, where the header states the counts.
_OUTPUT = frozenset(
    {
        *("printf", "vprintf", "puts", "putchar", "putc", "dprintf", "vdprintf"),
        *("stdout", "STDOUT_FILENO"),
    }
)
#: How the keys begin under which the counts are stated.
_KEY = "variant."


@dataclass(frozen=True)
class OwnTrial:
    """What the student's function counted in one process, after the last sample: where nothing was
    done, of `tried` operations, and of as many baselines."""

    tried: float
    idle: float
    of_operation: float
    of_baseline: float


def asks(case: Case) -> bool:
    """Whether the figure is the cost of the student's own operation, whose happening is counted."""
    return (
        case.spec.own
        and not case.others
        and case.spec.kernel == KERNEL
        and case.spec.variant == OPERATION
    )


def trials_of(case: Case) -> tuple[OwnTrial, ...]:
    """One trial for each process; none if a process states none."""
    columns = [
        observed.of_processes(case.recording, f"variant.{OPERATION}.{key}")
        for key in ("tried", "counted_idle", "counted_of_operation", "counted_of_baseline")
    ]
    if any(len(each) != len(case.recording.processes) for each in columns):
        return ()
    return tuple(OwnTrial(*row) for row in zip(*columns, strict=True))


def in_samples(case: Case) -> tuple[int, int | None]:
    """The operations that the samples hold, and those that were counted; None: not stated."""
    held = int(case.recording.samples(OPERATION).batch.sum())
    return held, case.recording.total(f"variant.{OPERATION}.counted_operations")


def claims_by_itself(case: Case) -> str | None:
    """Why the counts of the recording may be the C's own words, as text; None if they are counts.

    Says nothing of C that nobody can read.
    """
    text = own_source(case)
    if text is None or not c_tree.parsed(text).readable:
        return None
    source = c_tree.parsed(text)
    defined = sorted({name for name, _ in source.macros} & _of_the_kit())
    if defined:
        return f"defines {defined[0]} in place of the kit"
    if not _arguments(text):
        return f"does not measure by {MACRO} of the kit"
    if any(name == "main" for name, _ in c_tree.functions(source.whole)):
        return "has a main() of its own"
    words = sorted(_OUTPUT & source.whole.words)
    if words:
        return f"names {words[0]}, which writes where the counts are stated"
    if any(_KEY in each for each in source.whole.strings):
        return "holds a text like those that state the counts"
    return None


@functools.cache
def _of_the_kit() -> frozenset[str]:
    """What compares, counts and prints in the kit: a C that defines it anew measures by itself."""
    header = c_tree.parsed((paths.kernels_c() / f"{KERNEL}.h").read_text(encoding="utf-8"))
    functions = (name for name, _ in c_tree.functions(header.code))
    macros = (name for name, _ in header.macros if name != "_GNU_SOURCE")
    return frozenset({*functions, *macros, *_OUTPUT, "stop"})


def _arguments(text: str) -> tuple[str, ...]:
    """The functions that the C hands to the kit's macro."""
    return c_tree.arguments_of(text, MACRO)
