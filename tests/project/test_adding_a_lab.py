"""The example of docs/adding-a-lab.md is built, run and read, and what the page names is there."""

from __future__ import annotations

import re
import subprocess

from grader.cases.praise import Praise
from grader.cases.spec import FigureSpec, Quantity
from grader.facts.borne_out import FACTS
from labs.c_kernels import toolchain
from labs.course.steps import KINDS, WITHOUT_NAME
from testing.paths import REPOSITORY

PAGE = (REPOSITORY / "docs" / "adding-a-lab.md").read_text(encoding="utf-8")
C = re.findall(r"^```c\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
#: What the page tells a maintainer to write.
OF_THE_EXAMPLE = ("signal", "recordings/")


def test_the_c_kernel_of_the_example_measures() -> None:
    (source,) = C
    program = toolchain.build_text(source, "signal_delivery").path
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    assert [line.split(",")[0] for line in listed.splitlines() if '"' in line] == [
        "handled",
        "ignored",
        "loop",
    ]
    words = [str(program), "--variant", "handled", "--samples", "8", "--warmup", "0"]
    rows = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    # Two whole blocks: each of the two variants twice at each of the four batch sizes.
    for variant in ("handled", "loop"):
        assert len(re.findall(rf"^{variant},\d", rows, re.MULTILINE)) == 8


def test_the_figure_of_the_example_can_be_made() -> None:
    block = re.findall(r"^    FIGURES = .*?^    \)$", PAGE, re.DOTALL | re.MULTILINE)[0]
    made: dict[str, object] = {"FigureSpec": FigureSpec, "Praise": Praise, "Quantity": Quantity}
    exec(re.sub(r"^    ", "", block, flags=re.MULTILINE), made)
    figures = made["FIGURES"]
    assert isinstance(figures, tuple)
    (spec,) = figures
    assert isinstance(spec, FigureSpec)
    assert set(spec.praise[0].by) - {spec.central} <= set(FACTS)


def test_what_the_page_names_is_there() -> None:
    named = set(re.findall(r"`((?:[\w-]+/)+[\w.*-]*)`", PAGE))
    assert len(named) > 10
    for path in named:
        if not any(part in path for part in OF_THE_EXAMPLE):
            assert (REPOSITORY / path).exists(), path
    assert set(re.findall(r"`([a-z]+):(?:NAME|ID)`", PAGE)) == set(KINDS) - set(WITHOUT_NAME)
    assert set(re.findall(r"`([a-z-]+):`", PAGE)) == set(WITHOUT_NAME)
