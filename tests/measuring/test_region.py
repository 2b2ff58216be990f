"""The measured region of one variant: what its macro was given stands in it."""

from __future__ import annotations

import pytest

from labs import paths
from labs.c_kernels import toolchain
from labs.c_kernels.toolchain import measured_region, region_of

#: Lines that may belong to a use of a macro, in many ways, until the last one decides that none do.
MANY_WAYS = "TIMED(first, a" + "\n        b" * 2_000

SOURCE = """
#define TIMED(name, operation, after)                  \\
    static long name(long batch)                       \\
    {                                                  \\
        /* measured region begins */                   \\
        begin = now();                                 \\
        failed |= !(operation);                        \\
        /* measured region ends */                     \\
        after;                                         \\
    }

TIMED(first, call(1, 2), (void)0)
TIMED(second, two_lines(a, b) ||
          more(c), wait_for("a, b"))

static const struct variant variants[] = {
    {.name = "one", .about = "calls second", .interval = first},
    {.name = "two", WHICH_IS(second)},
    {.name = "many-" #size, .interval = second},
    {.name = "elsewhere", .interval = third},
};
"""


def test_the_operation_stands_in_its_place() -> None:
    for variant, operation in (
        ("one", "!call(1, 2)"),
        ("two", "!(two_lines(a, b) || more(c))"),
        ("many-64k", "!(two_lines(a, b) || more(c))"),
        ("elsewhere", "!(operation)"),
        ("absent", "!(operation)"),
    ):
        assert region_of(SOURCE, variant) == f"begin = now();\nfailed |= {operation};"


def test_without_marks_there_is_none() -> None:
    with pytest.raises(ValueError, match="measured region"):
        region_of("int main(void) { return 0; }", "one")


def test_of_released_c_kernels() -> None:
    for kernel, variant, holds in (
        ("system_call", "read0", "raw_call(SYS_read, zero, 0) == 0"),
        ("task_creation", "fork-wait", "ended(forked())"),
        ("task_creation", "fork-64mb", "(child = "),
        ("thread_switch", "bare-mutex", "exchange(&bare, MINE)"),
        ("process_switch", "pipe-pinned", "receive(channel, MINE)"),
    ):
        region = region_of((paths.kernels_c() / f"{kernel}.c").read_text(), variant)
        assert holds in region
        assert region.count("counter_begin") == region.count("counter_end") == 1, kernel


@pytest.mark.parametrize("name", toolchain.c_kernel_names())
def test_an_unknown_variant_gets_the_region_of_its_c_kernel(name: str) -> None:
    source = (paths.kernels_c() / f"{name}.c").read_text()
    assert region_of(source, "absent") == measured_region(source)


def test_lines_without_an_end_are_searched_once() -> None:
    """With two ways to read each blank, every such line would multiply the time."""
    assert region_of(f"{SOURCE}\n{MANY_WAYS}", "one") == region_of(SOURCE, "one")
