"""A C kernel that calls code of a project: its headers, its sources, its libraries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labs.c_kernels import toolchain
from labs.commands.cli import main
from labs.recording.file import read
from labs.run import measure
from labs.run.c_process import RunClock
from labs.run.plan import Plan
from support.c_programs import LINUX
from support.paths import REPOSITORY

KERNEL = """/* What does the function of the project cost? */
#define _GNU_SOURCE
#include "harness.h"
#include "project.h"

static uint64_t own(long batch)
{
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--) {
        const long result = of_project(left);
        __asm__ volatile("" : "+r"(left) : "r"(result));
    }
    return counter_end() - begin;
}

static const struct variant variants[] = {{.name = NAME, .about = "it", .interval = own}};
static const long batches[] = {8, 16, 24, 32};
MEASURE(.name = "kernel", .about = "it", LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
"""
HEADER = 'long of_project(long number);\n#define NAME "first"\n'
SOURCE = "long of_project(long number) { return 3 * number; }\n"
QUICK = ["--samples", "200", "--processes", "2"]
#: A third of the compiler's time: where no figure is looked at, its level is no matter.
PLAIN = "--flags=-O0"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A C kernel beside a project; the folder is the current one."""
    for name, text in {
        "kernel.c": KERNEL,
        "project/include/project.h": HEADER,
        "project/src/project.c": SOURCE,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No operation is tried: that takes a second program, and says nothing of how one is built."""

    async def tried(plan: Plan, clock: RunClock) -> dict[str, str]:
        return {}

    monkeypatch.setattr(measure, "tried", tried)


def measured(*options: str) -> str:
    """The name of the variant that the run measured."""
    assert main(["measure", "kernel.c", *QUICK, "--save", "run.csv", *options]) == 0
    return read(Path("run.csv")).variants[0]


FROM_SOURCE = ("-I", "project/include", "--source", "project/src/project.c")


@LINUX
@pytest.mark.usefixtures("untried")
def test_a_source_of_the_project_is_built_with_the_kernel() -> None:
    assert measured(*FROM_SOURCE) == "first"
    assert read(Path("run.csv")).conditions["flags"] == (
        "-O2 -Iproject/include project/src/project.c"
    )


@LINUX
@pytest.mark.usefixtures("untried")
def test_a_header_that_changed_is_not_measured_from_an_old_program(here: Path) -> None:
    assert measured(PLAIN, *FROM_SOURCE) == "first"
    (here / "project/include/project.h").write_text(HEADER.replace("first", "second"))
    assert measured(PLAIN, *FROM_SOURCE) == "second"


@LINUX
@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize("shared", [False, True])
def test_a_library_is_found_when_the_program_runs(
    shared: bool, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked = (PLAIN, "-I", "project/include", "-L", "project", "-l", "project")
    command = ["gcc", "-fPIC", "-c", "project/src/project.c", "-o", "project/project.o"]
    subprocess.run(command, check=True)
    if shared:
        made = ["gcc", "-shared", "-o", "project/libproject.so", "project/project.o"]
    else:
        made = ["ar", "rcs", "project/libproject.a", "project/project.o"]
    subprocess.run(made, check=True)
    assert measured(*linked) == "first"
    moved = here.rename(here.with_name(f"{here.name}-moved"))
    monkeypatch.chdir(moved)
    assert measured(*linked) == "first"  # and not by the program that looks where it was
    monkeypatch.chdir(moved / "project")
    there = [PLAIN, "-I", "include", "-L", ".", "-lproject"]
    assert main(["measure", "../kernel.c", *QUICK, *there]) == 0


def test_what_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for options, said in (
        (["--include", "nowhere"], "--include nowhere: there is no such folder"),
        (["--library-dir", "kernel.c"], "--library-dir kernel.c: there is no such folder"),
        (["--source", "nowhere.c"], "--source nowhere.c: there is no such file"),
        (["--source", "project/include/project.h"], "that ends in .c, .cpp"),
    ):
        assert main(["measure", "kernel.c", *QUICK, *options]) == 2
        assert said in capsys.readouterr().err


IN_CPP = f'extern "C" {{ {HEADER.splitlines()[0]} }}\n{HEADER.splitlines()[1]}\n'
#: What C++ has, and C has not; `new` is a name in C.
CPP_ONLY = "#include <string>\nstatic std::string text() { return std::string(99, 'x'); }\n"
OF_CPP = 'extern "C" long of_project(long number) { return (long)text().size() * number; }\n'


@LINUX
@pytest.mark.parametrize("compilers", [("gcc", "g++"), ("clang", "clang++")])
@pytest.mark.parametrize(
    ("kernel", "source"),
    [("kernel.cpp", "new.c"), ("kernel.cc", "new.cxx"), ("kernel.c", "new.cpp")],
)
def test_c_and_cpp_call_each_other(
    kernel: str,
    source: str,
    compilers: tuple[str, str],
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for variable, compiler in zip(("CC", "CXX"), compilers, strict=True):
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        monkeypatch.setenv(variable, compiler)
    in_c = kernel.endswith(".c")
    text = KERNEL if in_c else CPP_ONLY + KERNEL.replace("#define _GNU_SOURCE", "")
    use = "" if in_c else "    (void)text();\n"
    (here / kernel).write_text(
        text.replace("    return counter_end", use + "    return counter_end")
    )
    (here / "project/include/project.h").write_text(HEADER if in_c else IN_CPP)
    (here / source).write_text(
        SOURCE.replace("number", "new") if source.endswith(".c") else CPP_ONLY + OF_CPP
    )
    # At -O2 a compiler warns of more: once of each that comes to C++.
    level = "-O2" if source == "new.c" else "-O0"
    standard = [f"--flags={level} -Werror -std=c++17", "-I", "project/include", "-L", "."]
    command = ["measure", kernel, *QUICK, *standard, "--source", source, "--save", "run.csv"]
    assert main(command) == 0, capsys.readouterr().err
    stated = read(Path("run.csv")).conditions
    assert stated["variant.first.trial.steps"]  # its operations were tried too
    assert ("++" in stated["compiler"]) != in_c or "clang" in stated["compiler"]
    assert (here / f"run{Path(kernel).suffix}").read_text() == (here / kernel).read_text()
    (here / kernel).write_text("int number;\n")
    assert main(["measure", kernel, *QUICK, *standard]) == 1
    assert "this is not a C kernel: it has no main" in capsys.readouterr().err


@LINUX
def test_a_function_that_no_library_holds_is_named_by_the_linker(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["measure", "kernel.c", *QUICK, PLAIN, "-I", "project/include"]) == 1
    assert "of_project" in capsys.readouterr().err


@LINUX
@pytest.mark.usefixtures("untried")
def test_a_recording_does_not_name_the_home_folder(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(here))
    measured("-I", str(here / "project/include"), "--source", str(here / "project/src/project.c"))
    assert str(here) not in Path("run.csv").read_text(encoding="utf-8")
    assert read(Path("run.csv")).conditions["flags"].startswith("-O2 -I~/project/include")


def test_a_recording_names_neither_the_machine_nor_its_user(tmp_path: Path) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap, which gives a program another host name, is not installed")
    elsewhere = ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--unshare-uts"]
    names = dict.fromkeys(("USER", "LOGNAME", "USERNAME", "HOSTNAME"), "eve-example")
    words = ["-m", "labs.commands.cli", "measure", "timer_overhead", "--samples", "100"]
    done = subprocess.run(
        [*elsewhere, "--hostname", "eves-laptop", sys.executable, *words, "--save", "run.csv"],
        cwd=tmp_path, env={**os.environ, **names, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True, text=True,
    )  # fmt: skip
    if "bwrap:" in done.stderr:
        pytest.skip(f"bubblewrap is not allowed here: {done.stderr.strip()}")
    text = (tmp_path / "run.csv").read_text(encoding="utf-8")
    assert "# machine.cpu" in text and "eve-example" not in text and "eves-laptop" not in text


def test_flags_for_the_linker_stand_after_the_source() -> None:
    flags = ("-O2", "-lm", "-L", "lib", "-DNAME=a.c", "-include", "x.c", "more.c", "old.a")
    before, after = toolchain.in_order(flags)
    assert after == ["-lm", "more.c", "old.a"]
    rpath = f"-Wl,-rpath,{Path('lib').absolute()}"
    assert before == ["-O2", "-L", "lib", "-DNAME=a.c", "-include", "x.c", rpath]


def test_a_build_without_code_from_elsewhere_starts_no_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    flags = ("-O2", "-march=native", "-fno-inline")
    assert toolchain.fingerprint(flags, KERNEL) == ""


# The page on a function of one's own: what it tells to type is typed.

HOME = str(Path.home())
PAGE = (Path(__file__).parents[2] / "docs" / "own-function.md").read_text(encoding="utf-8")
SUM = "long summed(const unsigned char *bytes, unsigned length)"
BODY = """{
    long sum = 0;
    for (unsigned round = 0; round < ROUNDS * length / 8; round++)
        sum = sum * 31 + bytes[round % length];
    return sum;
}
"""


def block(language: str, having: str) -> str:
    """The block of code on the page in this language that has these words."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (found,) = (each for each in blocks if having in each)
    return str(found)


def in_shell(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a shell does that finds this Python's `labs`."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-ec", script], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": path, **environment},
    )  # fmt: skip


@LINUX
def test_a_library_in_rust_is_linked_as_the_page_says(here: Path) -> None:
    if shutil.which("rustc") is None:
        pytest.skip("rustc is not installed")
    (here / "sum.rs").write_text(block("rust", "sum"))
    done = in_shell(block("sh", "rustc"), here, HOME=HOME)  # where its toolchain is
    assert done.returncode == 0, done.stderr
    assert "of_rust own: " in done.stdout


@LINUX
def test_the_workflow_of_the_page_fails_if_a_pull_request_is_slower(here: Path) -> None:
    """Its commands, in a repository whose last change makes the function slower by 10 %, or not."""
    steps = re.findall(r"- run: (?:>\n)?((?:.*\n)(?: {10}.*\n)*)", block("yaml", "--fail-if"))
    commands = [" ".join(each.split()) for each in steps]
    assert commands[0] == "pip install ticklab" and len(commands) == 3
    project = here / "project"
    (project / "bench").mkdir()
    (project / "src/parse.h").write_text(f"{SUM};\n")
    set_up = f"""
        labs new parse --function '{SUM}' --header parse.h && mv parse.c bench
        git init -qb main . && git config user.name x && git config user.email x@x
        git add . && git commit -qm before && git update-ref refs/remotes/origin/main main"""
    source = f'#include "parse.h"\n{SUM}\n{BODY}'
    (project / "src/parse.c").write_text(source.replace("ROUNDS", "10"))
    assert in_shell(set_up, project).returncode == 0
    for rounds, status in ((10, 0), (11, 4)):
        (project / "src/parse.c").write_text(source.replace("ROUNDS", str(rounds)))
        script = "rm -rf ../before; git worktree prune\n" + "\n".join(commands[1:])
        done = in_shell(script, project, GITHUB_BASE_REF="main")
        assert done.returncode == status, done.stdout + done.stderr
