"""The C kernel of docs/own-function.md lists its variants; another file is none."""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest

from labs.c_kernels.toolchain import CompileError
from labs.run import variants
from labs.run.c_process import RunFailed
from testing.paths import REPOSITORY

PAGE = (REPOSITORY / "docs" / "own-function.md").read_text(encoding="utf-8")


def test_the_c_kernel_to_copy_lists_its_function_and_the_empty_loop(tmp_path: Path) -> None:
    (source,) = re.findall(r"^```c\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    file = tmp_path / "my_function.c"
    file.write_text(source, encoding="utf-8")
    own, loop = variants.of_kernel(str(file))
    assert (own.name, own.missing, loop.name) == ("own", "", "loop")
    assert not loop.missing


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
