"""The walks of memory_ladder: what they claim of their order and of their pages is counted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from testing.c_programs import LINUX, Code, Program, call, conditions_of, rows_of

pytestmark = LINUX

ProgramOf = Callable[[str], Program]

#: Of these nodes, hardly any two hops one after another are as long in a random order.
MANY = 256


def counts_of(program: Program, variant: str) -> dict[str, int]:
    """What the run counted of the walk, by the last word of its key."""
    done = call(program, "--variant", variant, "--samples", "8", "--warmup", "0")
    assert done.returncode == 0, done.stderr
    start = f"variant.{variant}."
    stated = conditions_of(done.stdout).items()
    keys = ("set_kb", "resident_kb", "huge_kb", "set_nodes", "nodes_walked", "same_hops")
    found = {key.removeprefix(start): word for key, word in stated if key.startswith(start)}
    return {key: int(found[key]) for key in keys if key in found}


@pytest.mark.parametrize(
    ("variant", "kb", "nodes"),
    [
        ("random-16k", 16, 256),
        ("ordered-256k", 256, 4096),
        ("random-256-256k", 256, 1024),
        ("ordered-4096-4m", 4096, 1024),
    ],
)
def test_a_walk_is_one_cycle_through_every_node(
    program_of: ProgramOf, variant: str, kb: int, nodes: int
) -> None:
    found = counts_of(program_of("memory_ladder"), variant)
    assert (found["set_kb"], found["set_nodes"]) == (kb, nodes)
    assert found["nodes_walked"] == nodes


@pytest.mark.parametrize("variant", ["random-64k", "random-1m", "random-4096-4m"])
def test_a_random_order_has_hops_of_all_lengths(program_of: ProgramOf, variant: str) -> None:
    found = counts_of(program_of("memory_ladder"), variant)
    assert found["set_nodes"] >= MANY
    assert found["same_hops"] < found["set_nodes"] // 16


@pytest.mark.parametrize("variant", ["ordered-64k", "ordered-256-256k"])
def test_an_order_of_addresses_has_hops_of_one_length(program_of: ProgramOf, variant: str) -> None:
    found = counts_of(program_of("memory_ladder"), variant)
    # The first hop has none before it, and the last one leads back to the first node.
    assert found["same_hops"] == found["set_nodes"] - 2


@pytest.mark.parametrize("variant", ["random-16k", "random-4096-4m", "ordered-1m"])
def test_every_page_of_a_set_is_there_and_small(program_of: ProgramOf, variant: str) -> None:
    found = counts_of(program_of("memory_ladder"), variant)
    if "resident_kb" not in found:
        pytest.skip("this system does not list the memory of a process")
    assert found["resident_kb"] == found["set_kb"]
    assert found["huge_kb"] == 0


def test_a_huge_set_is_in_huge_pages_or_refused(program_of: ProgramOf) -> None:
    program = program_of("memory_ladder")
    words = ("--variant", "huge-4m", "--samples", "8", "--warmup", "0")
    done = call(program, *words)
    if done.returncode == 0:
        assert counts_of(program, "huge-4m")["huge_kb"] == 4096
    else:
        assert done.returncode == 3
        assert "huge" in done.stderr


def test_a_hop_is_one_load(program_of: ProgramOf) -> None:
    code = Code(program_of("memory_ladder"))
    name = next(each for each in ("walk", "interval_random_16k") if each in code)
    loop = code.loop(name)
    loads = [each.text for each in loop if "(%" in each.text or "[x" in each.text]
    assert len(loads) == 1, [each.text for each in loop]


def test_a_random_order_costs_more_than_the_order_of_addresses(program_of: ProgramOf) -> None:
    # Beyond the caches of one core, a prefetcher hides most of an access that it foresees. The
    # shortest samples are those that no other program interrupted.
    words = ("--variant", "random-64m,ordered-64m", "--batch", "192", "--samples", "100")
    done = call(program_of("memory_ladder"), *words)
    assert done.returncode == 0, done.stderr
    shortest = {
        name: min(row[-1] for row in rows_of(done.stdout) if row[0] == name)
        for name in ("random-64m", "ordered-64m")
    }
    assert shortest["random-64m"] > shortest["ordered-64m"]
