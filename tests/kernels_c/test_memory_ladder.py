"""The walks of memory_ladder: what they claim of their order and of their pages is counted."""

from __future__ import annotations

from collections.abc import Callable

from support.c_programs import LINUX, Code, Program, conditions_of, rows_of
from support.programs import call

pytestmark = LINUX

ProgramOf = Callable[[str], Program]

#: Of more nodes, hardly any two hops one after another are as long in a random order.
FEW = 256


def counts_of(program: Program, *variants: str) -> list[dict[str, int]]:
    """What one run counted of each of these walks, by the last word of its key."""
    done = call(program, "--variant", ",".join(variants), "--samples", "8", "--warmup", "0")
    assert done.returncode == 0, done.stderr
    stated = conditions_of(done.stdout)
    keys = ("set_kb", "resident_kb", "huge_kb", "set_nodes", "nodes_walked", "same_hops")
    return [
        {key: int(stated[word]) for key in keys if (word := f"variant.{variant}.{key}") in stated}
        for variant in variants
    ]


#: By variant, the KB of its memory and its nodes.
WALKS = {
    "random-16k": (16, 256),
    "random-64k": (64, 1024),
    "random-1m": (1024, 16384),
    "random-256-256k": (256, 1024),
    "random-4096-4m": (4096, 1024),
    "ordered-64k": (64, 1024),
    "ordered-256k": (256, 4096),
    "ordered-1m": (1024, 16384),
    "ordered-256-256k": (256, 1024),
    "ordered-4096-4m": (4096, 1024),
}


def test_a_walk_is_one_cycle_through_every_node_in_small_pages(program_of: ProgramOf) -> None:
    found = counts_of(program_of("memory_ladder"), *WALKS)
    for (variant, (kb, nodes)), counted in zip(WALKS.items(), found, strict=True):
        assert (counted["set_kb"], counted["set_nodes"]) == (kb, nodes), variant
        assert counted["nodes_walked"] == nodes, variant
        if variant.startswith("ordered"):
            # The first hop has none before it, and the last one leads back to the first node.
            assert counted["same_hops"] == nodes - 2, variant
        elif nodes > FEW:  # hops of all lengths
            assert counted["same_hops"] < nodes // 16, variant
        if "resident_kb" in counted:  # elsewhere the system does not list a process's memory
            assert (counted["resident_kb"], counted["huge_kb"]) == (kb, 0), variant


def test_a_huge_set_is_in_huge_pages_or_refused(program_of: ProgramOf) -> None:
    program = program_of("memory_ladder")
    words = ("--variant", "huge-4m", "--samples", "8", "--warmup", "0")
    done = call(program, *words)
    if done.returncode == 0:
        assert counts_of(program, "huge-4m")[0]["huge_kb"] == 4096
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
