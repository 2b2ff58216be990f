"""The C kernels of docs/own-function.md and docs/defended-figure.md; another file is none."""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest

from labs.c_kernels.toolchain import CompileError, not_a_c_kernel
from labs.commands.arguments import COMMANDS
from labs.run import variants
from labs.run.c_process import RunFailed
from labs.run.measure import Plan, measure_now
from testing.paths import REPOSITORY

PAGE = (REPOSITORY / "docs" / "own-function.md").read_text(encoding="utf-8")


def test_the_c_kernel_to_copy_lists_its_function_and_the_empty_loop(tmp_path: Path) -> None:
    (source,) = re.findall(r"^```c\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    file = tmp_path / "my_function.c"
    file.write_text(source, encoding="utf-8")
    own, loop = variants.of_kernel(str(file))
    assert (own.name, own.missing, loop.name) == ("own", "", "loop")
    assert not loop.missing


def test_the_c_kernel_of_the_defended_figure_counts_what_it_claims(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "defended-figure.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```c\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    file = tmp_path / "hits.c"
    file.write_text(source, encoding="utf-8")
    names = ["alone", "contended", "loop"]
    listed = variants.of_kernel(str(file))
    assert [each.name for each in listed] == names
    chosen = tuple(each.name for each in listed[:2] if not each.missing)
    found = measure_now(Plan(str(file), chosen, samples=200, processes=2))
    claimed = found.total("variant.alone.claimed_operations")
    assert claimed and claimed == found.total("variant.alone.counted_operations")
    if "contended" in chosen:
        assert found.total("variant.contended.operations_of_others")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc asks for it")
@pytest.mark.parametrize("late", ["", "#include <stdio.h>\n#define _GNU_SOURCE\n"])
def test_the_kit_says_what_must_stand_above_the_first_include(late: str, tmp_path: Path) -> None:
    (source,) = re.findall(r"^```c\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    file = tmp_path / "my_function.c"
    file.write_text(source.replace("#define _GNU_SOURCE\n", late), encoding="utf-8")
    with pytest.raises(CompileError) as refused:
        variants.of_kernel(str(file))
    assert "write #define _GNU_SOURCE above the first #include" in refused.value.messages[0].text


def test_a_program_of_its_own_is_said_to_be_no_c_kernel(tmp_path: Path) -> None:
    file = tmp_path / "mine.c"
    file.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    with pytest.raises(RunFailed, match=r"mine\.c: this is not a C kernel: .*MEASURE\(\.\.\.\)"):
        variants.of_kernel(str(file))


def test_what_a_c_kernel_looks_like_is_named_by_what_a_wheel_has() -> None:
    named = re.search(r"`labs (new) \w+`.* (/\S+\.c)$", not_a_c_kernel("it has no main"))
    assert named is not None
    assert named[1] in COMMANDS and Path(named[2]).is_file()
    assert "docs/" not in named.string
