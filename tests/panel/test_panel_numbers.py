"""Numbers as people type them into a panel, and which settings mean something for a variant."""

from __future__ import annotations

import pytest

from labs.notebook import panel
from labs.notebook.typed_numbers import (
    NotAWholeNumber,
    read_number,
    read_number_within,
    shown_number,
)
from labs.recording.declared import Declared, Estimand, Placement
from labs.run.variants import Listed


def test_what_people_type_is_understood() -> None:
    for text, number in (
        ("1000", 1000),
        (" 1000 ", 1000),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1e+3", 1000),
        ("2.5e4", 25_000),
        ("10k", 10_000),
        ("2.5k", 2_500),
        ("1M", 1_000_000),
        ("10_000", 10_000),
        ("10,000", 10_000),
        ("1,234,567", 1_234_567),
        ("10 000", 10_000),
        ("10\N{NARROW NO-BREAK SPACE}000", 10_000),
        ("10'000", 10_000),
        ("0", 0),
        ("007", 7),
        ("-5", -5),
        ("\N{MINUS SIGN}5", -5),
        ("+5", 5),
    ):
        assert read_number(text) == number


@pytest.mark.parametrize(
    "text",
    ["", " ", "many", "1.5", "1,5", "1,00", "10,0000", "1,000 000", "1e", "e3", "1e-3", "1e999",
     "0x10", "1__0", "--5", "٣", "1.2345k", "1" * 30, "10 k k", "nan", "inf", "None"],
)  # fmt: skip
def test_what_is_no_whole_number_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(NotAWholeNumber, match=r"ten thousand as 10000, 10,000, 1e4 or 10k|such as"):
        read_number(text)


def test_a_point_between_thousands_is_asked_about() -> None:
    with pytest.raises(NotAWholeNumber, match="Did you mean 10,000"):
        read_number("10.000")


@pytest.mark.parametrize(("text", "size"), [("0", "small"), ("1e6", "large"), ("1e99", "large")])
def test_what_is_out_of_range_is_named_as_it_was_typed(text: str, size: str) -> None:
    with pytest.raises(NotAWholeNumber, match=f"^{text} is too {size}: .* from 1 to 100,000"):
        read_number_within(text, 1, 100_000)


def test_what_a_panel_shows_it_can_read() -> None:
    for number in (0, 7, 999, 1000, 100_000):
        assert read_number(shown_number(number)) == number


def listed(placement: Placement, other_tasks: int = 1) -> Listed:
    return Listed("its-name", "", "", Declared(placement=placement, other_tasks=other_tasks))


def test_what_has_no_meaning_is_greyed_out_and_says_why() -> None:
    for placement, other_tasks, cpu, peer in (
        (Placement.ANYWHERE, 0, True, False),
        (Placement.ANYWHERE, 1, True, False),
        (Placement.ONE_CPU, 0, True, False),
        (Placement.ONE_CPU, 1, True, False),
        (Placement.TWO_CPUS, 1, True, True),
        (Placement.CPUS_IN_TURN, 1, False, False),
    ):
        variant = listed(placement, other_tasks)
        of_cpu = panel.of_cpu(variant, can_pin=True)
        of_peer = panel.of_peer_cpu(variant, can_pin=True)
        assert (of_cpu.usable, of_peer.usable) == (cpu, peer)
        for each in (of_cpu, of_peer):
            assert each.usable or "its-name" in each.words
            assert "--" not in each.words and "=" not in each.words


def test_without_pinning_there_is_no_cpu_to_choose() -> None:
    for of_which in (panel.of_cpu, panel.of_peer_cpu):
        said = of_which(listed(Placement.TWO_CPUS), can_pin=False)
        assert not said.usable and "cannot pin" in said.words


def test_a_warm_up_is_warned_of_where_first_calls_are_measured() -> None:
    first = Listed("cold", "", "", Declared(Estimand.FIRST_TIME))
    assert "would use them up" in panel.of_warmup(first).words
    assert panel.of_warmup(listed(Placement.ANYWHERE)) == panel.USUAL


def test_why_a_variant_cannot_run_is_said_without_options() -> None:
    one = Listed("apart", "", "this process may use one CPU only")
    words = panel.of_variant(one).words
    assert words.endswith("apart: this process may use one CPU only.")
    other = Listed("apart", "", "--place anywhere gives no task a CPU of its own")
    assert "--" not in panel.of_variant(other).words
    assert panel.of_variant(listed(Placement.ANYWHERE)).words == ""
