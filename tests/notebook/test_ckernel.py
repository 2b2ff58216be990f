"""`%%ckernel`: C in a cell, run by a real IPython; mistakes are told in lines of the cell."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from labs.c_kernels import toolchain
from labs.messages import Refused
from labs.notebook import ckernel_magic, unready_cells
from labs.notebook.session import Session
from labs.recording import file

CELL = """#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1;
    const uint64_t begin = counter_begin();
    ADDITIONS(link, k);
    return counter_end() - begin;
}
MEASURE_OWN_PAIR(own_interval)
"""
QUICK = "own --samples 500 --processes 5"
#: A third of the compiler's time: where no figure is looked at, its level is no matter.
PLAIN = "--flags=-O0"


@pytest.fixture
def lab(tmp_path: Path) -> Session:
    return Session("01-timer-overhead", tmp_path)


def test_a_cell_is_measured_and_its_source_kept_beside_the_recording(lab: Session) -> None:
    run = ckernel_magic.measure_cell(lab, f"{QUICK} --save mine", CELL)
    assert lab.runs["own"] is run
    assert run.value > 0
    saved = file.read(lab.folder / "recordings" / "mine.csv")
    source = (lab.folder / "recordings" / "mine.c").read_text()
    assert source == CELL
    assert saved.conditions["source.sha256"] == toolchain.source_hash(source)


@pytest.mark.parametrize(("clobbers", "said"), [('"rcx", "r11"', False), ('"rcx"', True)])
def test_a_cell_that_overwrites_a_register_in_silence_is_reported(
    lab: Session, clobbers: str, said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("the assembly is that of x86-64")
    # Never called: whether such a loop ends is luck.
    uncalled = f'asm volatile("syscall" : "=a"(r) : "a"(39) : {clobbers});'
    cell = f"{CELL}static inline long uncalled(void) {{ long r; {uncalled} return r; }}\n"
    ckernel_magic.measure_cell(lab, f"{QUICK} {PLAIN}", cell)
    assert ("does not say that `syscall` overwrites r11" in capsys.readouterr().out) == said


@pytest.mark.parametrize(
    ("body", "page", "called", "said"),
    [
        ("(void)code[8];", 1, None, ""),
        ("(void)code[65536];", 0, None, "did not touch the page"),
        ("((void (*)(void))(uintptr_t)code)();", None, 1, "get_ready() called the code"),
        ("(void)*code; ((void (*)(void))(uintptr_t)code)();", None, 1, "get_ready() called"),
    ],
)
def test_a_cell_that_calls_what_it_gets_ready_or_another_page_is_told_so(
    lab: Session,
    body: str,
    page: int | None,
    called: int | None,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The run gave 0 ns, as if the page alone had done it, and no word."""
    ready = f"static void get_ready(const volatile unsigned char *code) {{ {body} }}"
    cell = f'#include "own_first_call.h"\n{ready}\nMEASURE_OWN_FIRST_CALL(get_ready)\n'
    stated = ckernel_magic.measure_cell(
        lab, f"own_first_call --samples 20 --processes 5 {PLAIN}", cell
    ).recording
    seen = [stated.number(f"variant.own.watched_{each}") for each in ("page", "called")]
    if seen == [None, None]:
        pytest.skip("this system does not let the run watch the pages")
    assert seen == [page, called]
    shown = capsys.readouterr().out
    assert said in shown and ("get_ready()" in shown) == bool(said)


def test_options_reach_the_run(lab: Session) -> None:
    cpu = min(os.sched_getaffinity(0))
    line = f"{QUICK} --cpu {cpu} --warmup 7 --batch 64,128 --flags=-O1 --unit us"
    run = ckernel_magic.measure_cell(lab, line, CELL)
    conditions = run.recording.conditions
    assert conditions["cpu.asked"] == str(cpu)
    assert conditions["warmup"] == "7"
    assert conditions["flags"] == "-O1"
    assert set(run.recording.batch.tolist()) == {64, 128}
    assert run.unit == "us"


def test_a_compile_error_names_the_line_of_the_cell_and_marks_the_place(lab: Session) -> None:
    with pytest.raises(Refused) as refused:
        ckernel_magic.measure_cell(lab, QUICK, CELL.replace("- begin;", "- began;"))
    message = refused.value.message
    # The editor counts the line of the magic as line 1.
    assert message.heading.startswith("cell, line 9: ")
    assert "began" in message.heading
    marked, marker = message.excerpt.split("\n")[1:3]
    assert marked.startswith(">    9 | ")
    assert marked[marker.index("^") :].startswith("began")
    assert not (lab.folder / "recordings").exists()


def test_a_stub_says_only_what_is_to_be_done(lab: Session) -> None:
    with pytest.raises(Refused) as refused:
        ckernel_magic.measure_cell(
            lab, QUICK, '#error "Write your pair of readings here"\nnonsense;\n'
        )
    message = refused.value.message
    assert message.heading == "cell, line 2: Write your pair of readings here"
    assert message.tone == "open"
    assert (message.excerpt, message.sentences) == ("", ())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "NAME"),
        ("../own", "is not a name"),
        ("own --samples many", "samples"),
        ("own --samples 0", "samples 0"),
        ("own --cpu 4096", "cpu 4096"),
        ("own --wrong", "--wrong"),
        ("own --batch 1,x", "'1,x' is not a list of whole numbers"),
        ("own 'quoted", "quotation"),
        ("own --flags='", "quotation"),
        ('own --flags="\'"', "quotation"),
        ("own --flags=O3", "O3 is no option"),
        ("own --flags='-g Ofast'", "begin with a hyphen: -Ofast."),
        ("own --save a/b", "cannot name a recording"),
    ],
)
def test_a_wrong_line_is_refused_in_plain_words(lab: Session, line: str, words: str) -> None:
    with pytest.raises(Refused) as refused:
        ckernel_magic.measure_cell(lab, line, CELL)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ("static int *take(void) { return 0; }", "name take is used in harness.h, a header of the"),
        ("static int stop;", "The name stop is used in options.h, a header of the kit"),
        ("static int read(char *);", "name read is used in unistd.h, which your C includes"),
    ],
)
def test_a_name_of_a_header_is_said_to_be_one(lab: Session, declared: str, words: str) -> None:
    with pytest.raises(Refused) as refused:
        ckernel_magic.measure_cell(lab, QUICK, f"{CELL}#include <unistd.h>\n{declared}\n")
    assert words in str(refused.value).replace("\n", " ")
    assert "choose another." in str(refused.value)


@pytest.mark.parametrize(
    "declared",
    [
        "static int mine; static long mine;",
        "static int mine(void) { return 1; }\nstatic int mine(void) { return 2; }",
        "static int mine = wrong;\nstatic int take(void) { return 0; }",  # of the first error only
    ],
)
def test_a_name_that_the_cell_uses_twice_is_of_no_header(lab: Session, declared: str) -> None:
    with pytest.raises(Refused) as refused:
        ckernel_magic.measure_cell(lab, QUICK, f"{CELL}{declared}\n")
    assert "mine" in str(refused.value) or "wrong" in str(refused.value)
    assert "The name" not in str(refused.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("int main(void) { return 0; }", "variant,sample,batch,ticks"),
        ("#include <stdlib.h>\nint main(void) { abort(); }", "SIGABRT"),
        (
            '#include <stdio.h>\nint main(void) { fputs("no such counter\\n", stderr); return 3; }',
            "this machine cannot",
        ),
    ],
    ids=["prints nothing", "crashes", "impossible here"],
)
def test_a_run_that_fails_is_told_in_plain_words(lab: Session, body: str, words: str) -> None:
    with pytest.raises(Refused) as refused:
        ckernel_magic.measure_cell(lab, QUICK, body + "\n")
    assert words in str(refused.value)


@pytest.fixture
def shell() -> Iterator[Any]:
    InteractiveShell.clear_instance()
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def test_in_a_notebook_a_mistake_shows_no_traceback(
    lab: Session, shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    ckernel_magic.register(lab, unready_cells.Waiting(shell))
    done = shell.run_cell(f"%%ckernel {QUICK}\n" + CELL.replace("- begin;", "- began;"))
    shown = capsys.readouterr()
    assert isinstance(done.error_in_exec, Refused)
    assert "cell, line 9: " in shown.out
    assert "Traceback" not in shown.out + shown.err
    assert shown.out.count("cell, line 9: ") == 1


def test_in_a_notebook_a_cell_shows_its_figure(
    lab: Session, shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    ckernel_magic.register(lab, unready_cells.Waiting(shell))
    assert shell.run_cell(f"%%ckernel {QUICK}\n{CELL}").success
    assert "own_pair own: cost" in capsys.readouterr().out


@pytest.mark.parametrize(
    "above", ["# my C\n%%ckernel", "// my own\n\n%%ckernel", "%ckernel", "# my C\n%ckernel"]
)
def test_a_magic_that_is_not_quite_in_its_place_is_found(
    lab: Session, shell: Any, capsys: pytest.CaptureFixture[str], above: str
) -> None:
    """A comment above it, or one lost `%`; the lines of the C keep their numbers."""
    ckernel_magic.register(lab, unready_cells.Waiting(shell))
    ckernel_magic.register(lab, unready_cells.Waiting(shell))
    shell.run_cell(f'{above} {QUICK}\n#error "to be done"\n')
    assert f"cell, line {2 + above.count(chr(10))}: to be done" in capsys.readouterr().out


def test_other_cells_are_left_as_they_are() -> None:
    for cell in ("x = 1\n%%ckernel own\n", "%timeit 1\n", "text = '''\n%%ckernel own\n'''\n", ""):
        lines = cell.splitlines(keepends=True)
        assert ckernel_magic.magic_first(lines) == lines
