"""A class's state is the same in whatever order messages come, and leaving is final."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.live.class_state import FEWEST_OF_KIND, OTHERS, ClassState, NotTaken
from grader.live.wall import stage
from labs.course.class_figures import read_class
from labs.course.in_class import Shared
from labs.recording.run_conditions import kind_of
from support.live_class import LAB, message

KINDS = ("x86-64, AMD, virtual", "Arm, Apple, not virtual", "unknown machine", "<b>\u202e")


def shared(**options: object) -> Shared:
    return Shared.model_validate(message(**options))  # type: ignore[arg-type]


_EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["ada", "bob", "cyd"]),
        st.integers(0, 4),
        st.sampled_from([None, 10.0, 100.0, 1e6]),
        st.sampled_from(KINDS),
    ),
    max_size=12,
)


def after(events: list[tuple[str, int, float | None, str]]) -> tuple[object, ...]:
    """What the wall shows after these events; a message without a value is one of leaving."""
    state = ClassState(LAB)
    for student, version, value, machine in events:
        if value is None:
            state.leave(student)
        else:
            with contextlib.suppress(NotTaken):
                state.take(student, shared(version=version, value=value, machine=machine))
    every = [state.answers(question) for question in state.questions]
    return (*((each.here, each.predictions, sorted(map(str, each.found))) for each in every),)


@given(_EVENTS, st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(
    events: list[tuple[str, int, float | None, str]], chance: random.Random
) -> None:
    again = [*events, *chance.sample(events, k=len(events) // 2)]
    chance.shuffle(again)
    assert after(again) == after(events)


def test_the_newest_version_counts() -> None:
    state = ClassState(LAB)
    for version in (2, 3, 1):
        state.take("ada", shared(version=version, value=float(version)))
    (found,) = state.answers(state.questions[0]).found
    assert found.value == 3


def test_units_are_converted_and_others_left_out() -> None:
    state = ClassState(LAB)
    state.take("ada", shared(value=0.5, unit="us"))
    state.take("bob", shared(value=7, unit="cycles"))
    answers = state.answers(state.questions[0])
    assert [each.value for each in answers.found] == [500]
    assert answers.here == 2


def test_words_of_strangers_are_dropped() -> None:
    state = ClassState(LAB)
    state.take("ada", shared(machine="<script>", findings=["unit-slip", "no-such-code"]))
    (found,) = state.answers(state.questions[0]).found
    assert (found.machine, found.findings) == ("unknown machine", frozenset({"unit-slip"}))


@pytest.mark.parametrize(
    "system", ["Linux 6 x86_64", "Darwin 24 arm64", "Linux microsoft x86_64", ""]
)
@pytest.mark.parametrize("cpu", ["AMD EPYC", "Apple M4", "Neoverse-N1", "<script>"])
@pytest.mark.parametrize("virtual", ["True", "False", "maybe"])
def test_every_kind_of_machine_that_the_kit_gives_is_shown(
    system: str, cpu: str, virtual: str
) -> None:
    kind = kind_of({"os": system, "machine.cpu": cpu, "machine.virtual": virtual})
    state = ClassState(LAB)
    state.take("ada", shared(machine=kind))
    assert list(state.answers(state.questions[0]).by_machine()) == [kind]


def test_a_rare_kind_of_machine_is_shown_with_others() -> None:
    state = ClassState(LAB)
    for n in range(FEWEST_OF_KIND):
        state.take(f"s{n}", shared())
    state.take("rare", shared(machine="Arm, Apple, not virtual"))
    assert list(state.answers(state.questions[0]).by_machine()) == ["x86-64, AMD, virtual", OTHERS]


def test_a_frozen_wall_stays_and_who_leaves_is_gone_from_it() -> None:
    state = ClassState(LAB)
    state.take("ada", shared())
    state.take("bob", shared())
    state.freeze(True)
    state.take("cyd", shared())
    assert state.answers(state.questions[0]).here == 2
    state.leave("ada")
    assert state.answers(state.questions[0]).here == 1
    state.freeze(False)
    assert state.answers(state.questions[0]).here == 2


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    state = ClassState(LAB, tmp_path)
    for n in range(6):
        state.take(f"s{n}", shared(value=100.0 + n))
    state.leave("s0")
    again = ClassState(LAB, tmp_path)
    assert again.answers(again.questions[0]) == state.answers(state.questions[0])
    with pytest.raises(NotTaken, match="left"):
        again.take("s0", shared(version=9))
    assert again.answers(again.questions[0]).here == 5
    path = again.write_data_set()
    assert path is not None
    rows = read_class(path)
    assert {(row.figure, row.machine, row.count, row.median) for row in rows} == {
        ("system-call-getppid", "all", 5, 103),
        ("system-call-getppid", "x86-64, AMD, virtual", 5, 103),
    }


def test_what_has_a_finding_is_no_figure_of_the_data_set(tmp_path: Path) -> None:
    state = ClassState(LAB, tmp_path)
    for n in range(6):
        state.take(f"s{n}", shared(findings=["unit-slip"] if n else []))
    path = state.write_data_set()
    assert path is not None
    assert read_class(path) == ()


def test_a_mistake_is_counted_once_for_each_student() -> None:
    state = ClassState(LAB)
    for n in range(3):
        state.take(f"s{n}", shared(findings=["unit-slip", "unit-slip"] if n else []))
    assert [count for count, _ in stage(state, state.questions[0], True)["mistakes"]][
        -1
    ] == "2 of 3:"


def test_every_question_of_an_empty_and_of_a_large_class_can_be_shown() -> None:
    state = ClassState(LAB)
    for _ in range(2):
        for question in state.questions:
            for revealed in (False, True):
                assert stage(state, question, revealed)["asks"] == question.asks
        for n in range(500):
            state.take(f"s{n}", shared(value=float(n)))
