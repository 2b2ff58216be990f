"""`labs new` writes a C kernel that can be measured at once, and replaces no file."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from labs.c_kernels.new_kernel import write_new
from labs.commands.cli import main
from labs.files import CannotWrite
from labs.recording.file import read
from support.c_programs import LINUX

QUICK = ["--samples", "400", "--processes", "2"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


PROTOTYPE = "int f(const char *, size_t)"
LONGER = "int longer(char *, const int *, double, unsigned, const char *, int)"
HEADER = """#include <stddef.h>
#ifdef __cplusplus
extern "C"
#endif
int f(const char *, size_t);
#ifdef __cplusplus
extern "C"
#endif
int longer(char *, const int *, double, unsigned, const char *, int);
"""
SOURCE = """#include <string.h>
#include "x.h"
int f(const char *text, size_t length) { return strlen(text) == length ? text[3] : 1; }
int longer(char *text, const int *numbers, double part, unsigned seed, const char *other, int n)
{
    return text[seed % 8] + numbers[seed % 8] + (part < 1) + other[n & 7];
}
"""


GCC, CLANG = ("gcc", "g++"), ("clang", "clang++")
#: Each two of their values come together in one case.
WRITTEN = [
    (GCC, "mine.c", "", 1),
    (CLANG, "mine.cpp", "", 2),
    (GCC, "mine.cpp", PROTOTYPE, 1),
    (CLANG, "mine.c", PROTOTYPE, 2),
    (CLANG, "mine.cpp", LONGER, 1),
    (GCC, "mine.c", LONGER, 2),
]


@LINUX
@pytest.mark.parametrize(("compilers", "name", "prototype", "threads"), WRITTEN)
def test_what_it_writes_is_short_and_measured_without_a_change(
    compilers: tuple[str, str],
    name: str,
    prototype: str,
    threads: int,
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable, compiler in zip(("CC", "CXX"), compilers, strict=True):
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        monkeypatch.setenv(variable, compiler)
    if threads > 1 and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two threads need two CPUs")
    (here / "x.h").write_text(HEADER)
    (here / "x.c").write_text(SOURCE)
    words = ["--function", prototype, "--header", "x.h"] if prototype else []
    beside = ["--threads", str(threads)] if threads > 1 else []
    assert main(["new", name, *words, *beside]) == 0
    assert f"labs measure {name}" in capsys.readouterr().out
    text = (here / name).read_text()
    assert len(text.splitlines()) <= 40 and all(len(line) <= 100 for line in text.splitlines())
    command = ["measure", name, *QUICK, "--flags=-O2 -Werror", "--save", "run.csv", "--json"]
    project = ["-I", ".", "--source", "x.c"] if words else []
    assert main([*command, *project]) == 0, capsys.readouterr().err
    found = json.loads(capsys.readouterr().out)
    assert (found["kernel"], found["variant"]) == ("mine", "own")
    recording = read(here / "run.csv")
    assert recording.conditions["variant.own.baseline"] == "loop"
    if threads == 1:  # each operation takes another input
        assert recording.conditions["variant.own.trial.counter_whole"] == "1"


@LINUX
@pytest.mark.parametrize(
    ("prototype", "name"),
    [
        ("void f(double *values, int n)", "mine.c"),
        ("uint32_t f(uint32_t crc, const unsigned char *buf, size_t len);", "mine.c"),
        ("double f(void)", "mine.c"),
        (
            "int f(char const *from, char *to, int fromSize, int toCapacity, wchar_t flags)",
            "mine.c",
        ),
        ("char *f(char *to, const char *from)", "mine.c"),
        ("double f(float x, long long n)", "mine.cc"),
        ("std::string f(const std::string &text)", "mine.cpp"),
        ("bool f(std::string_view a, std::string_view b)", "mine.cxx"),
    ],
)
def test_arguments_are_made_for_a_prototype(
    prototype: str, name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    headers = "#include <stdint.h>\n#include <stddef.h>\n"
    if "std::" in prototype:
        headers += "#include <string>\n#include <string_view>\n"
    (here / "x.h").write_text(f"#pragma once\n{headers}{prototype.rstrip(';')};\n")
    assert main(["new", name, "--function", prototype, "--header", "x.h"]) == 0
    # It is compiled, and not linked: there is no such function.
    assert main(["measure", name, *QUICK, "-I", ".", "--flags=-O2 -Werror"]) == 1
    said = capsys.readouterr().err
    assert "undefined reference to" in said and "line " not in said, said


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--function", "f"], "is no prototype"),
        (["--function", "int f(struct x *)"], "argument 1 of f, 'struct x *', cannot be made"),
        (["--function", "void f(int, int (*)(int))"], "argument 2 of f"),
    ],
)
def test_a_function_that_cannot_be_called_is_explained(
    words: list[str], why: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "mine", *words]) == 2
    assert why in capsys.readouterr().err and not list(here.iterdir())


def test_what_is_not_called_yet_has_its_header_and_levels_and_flags_are_known_ones(
    here: Path,
) -> None:
    assert main(["new", "mine", "--header", "x.h"]) == 0
    text = (here / "mine.c").read_text()
    assert '#include "x.h"' in text and "strlen(in->text)" in text
    assert (
        main(
            [
                "new",
                "other",
                "--function",
                "int f(int level, const char *a, const size_t n, int p_flags)",
            ]
        )
        == 0
    )
    assert "return f(1, in->a2, LENGTH, 0);" in (here / "other.c").read_text()


def test_no_file_is_replaced(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mine.c").write_text("int main(void) { return 0; }\n")
    (here / "other.c").symlink_to("nowhere.c")
    for name in ("mine", "other"):
        assert main(["new", name]) == 1
        assert f"{name}.c is already there" in capsys.readouterr().err
    assert (here / "mine.c").read_text() == "int main(void) { return 0; }\n"
    assert not (here / "nowhere.c").exists()


@pytest.mark.parametrize("name", ["", "a b", "../mine", 'x"', "x\ny", "1st", "é", "a" * 41, "-"])
def test_a_name_that_cannot_be_used_is_explained(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "--", name]) == 2
    assert "a letter and then" in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_the_name_of_a_c_kernel_of_the_kit_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "system_call"]) == 2
    assert "Ticklab has a C kernel system_call" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(CannotWrite, match="Permission denied"):
        write_new("mine", Path())
