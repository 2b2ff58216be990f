"""The places of the stack: what a C kernel does with the option, and what a run asks for."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from labs.run.c_process import GRAIN, PAGE, place_of, random_stack_place
from labs.run.measure import Plan, measure_in_turns_now, measure_now
from support.c_programs import FOLDER, Program, compile_c, conditions_of
from support.programs import call

ProgramOf = Callable[[str], Program]

FEW = ("--samples", "12", "--warmup", "2")


def test_any_number_of_processes_covers_a_page_and_a_cache_line_evenly() -> None:
    """Ten processes with one place in the cache line made a run that was sure of a wrong cost."""
    counts, starts = (1, 2, 3, 7, 10, 40, 100, 256), (0, 16, 2048, 4080)
    for size, count, start in itertools.product((64, 256, 1024, PAGE), counts, starts):
        every = [place_of(number, start) for number in range(count)]
        assert len(set(every)) == count
        assert all(0 <= place < PAGE and place % GRAIN == 0 for place in every)
        places = sorted({place % size for place in every})
        assert len(places) == min(count, size // GRAIN)
        gaps = [b - a for a, b in zip(places, [*places[1:], places[0] + size], strict=True)]
        even = size / len(places)
        assert even / 4 <= min(gaps) and max(gaps) <= 2.5 * even, (size, count, start)


def test_each_place_in_the_cache_line_has_equally_many_processes() -> None:
    for count in (8, 10, 20, 40):
        of_each = Counter(place_of(number, 0) % 64 for number in range(count))
        assert len(of_each) == 64 // GRAIN
        assert max(of_each.values()) - min(of_each.values()) <= 1, count


def test_processes_beyond_the_last_place_begin_again() -> None:
    assert place_of(256, 32) == place_of(0, 32) == 32


def test_runs_begin_at_different_places() -> None:
    starts = {random_stack_place() for _ in range(200)}
    assert len(starts) > 20 and all(0 <= start < PAGE for start in starts)


def test_the_stack_stands_where_it_is_asked_to(program_of: ProgramOf, tmp_path: Path) -> None:
    without = compile_c(tmp_path, "-O0", source=FOLDER / "procedure_call.c")
    for program in (without, program_of("procedure_call")):
        for place in (0, 15, 16, 100, 2048, 4080, 4095):
            stated = conditions_of(call(program, "--stack-place", str(place), *FEW).stdout)
            assert stated["stack.place"] == str(place // GRAIN * GRAIN)


def test_without_the_option_it_stays_where_the_os_put_it(program_of: ProgramOf) -> None:
    program = program_of("procedure_call")
    places = {conditions_of(call(program, *FEW).stdout)["stack.place"] for _ in range(12)}
    assert all(0 <= int(place) < PAGE for place in places)


def test_a_place_outside_the_page_is_refused(program_of: ProgramOf) -> None:
    for bad in ("-1", "4096", "x", "", "1e3"):
        done = call(program_of("procedure_call"), f"--stack-place={bad}")
        assert done.returncode == 2
        assert "--stack-place" in done.stderr and "0 to 4095" in done.stderr, bad


def test_the_processes_of_a_run_have_distinct_places_and_those_of_two_plans_the_same() -> None:
    plan = Plan("procedure_call", ("args5",), samples=80, processes=8, warmup=2)
    one, other = measure_in_turns_now((plan, Plan("system_call", samples=80, processes=8)))
    places = [int(text) for text in one.condition("stack.place")]
    assert places == [place_of(number, places[0]) for number in range(8)]
    assert other.condition("stack.place") == one.condition("stack.place")
    assert "stack-place" not in measure_now(plan).conditions["command"]
