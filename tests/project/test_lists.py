"""The lists that `python -m support.lists` writes are up to date, and it repairs each."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from labs.c_kernels.toolchain import CompileError
from support import lists
from support.paths import REPOSITORY

LISTS = lists.lists()
#: A row of each list of a page.
ROWS = {
    lists.README: r"^\| 03-system-call .*\n",
    lists.INSTRUCTORS / "rubrics.md": r"^\| 03 \| 18 .*\n",
    lists.INSTRUCTORS / "term-plan.md": r"^- \[03 .*\n",
}


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.name)
def test_each_list_is_up_to_date(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert LISTS[path](text) == text, "run: python -m support.lists"


@pytest.mark.parametrize("path", ROWS, ids=lambda path: path.name)
def test_a_missing_row_comes_back(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    without = re.sub(ROWS[path], "", text, count=1, flags=re.MULTILINE)
    assert without != text
    assert LISTS[path](without) == text


def test_the_hash_of_a_new_c_kernel_is_added() -> None:
    text = lists.HASHES.read_text(encoding="utf-8")
    stated = json.loads(text)
    for kind, name in (("released", "system_call"), ("broken", "cached_getpid")):
        now = stated[kind].pop(name)[-1]
        assert json.loads(lists.hashes(json.dumps(stated)))[kind][name] == [now]


def test_earlier_hashes_stay_and_a_version_that_is_back_is_last() -> None:
    stated = json.loads(lists.HASHES.read_text(encoding="utf-8"))
    (now,) = stated["released"]["system_call"][-1:]
    stated["released"]["system_call"] = [now, "0" * 64]
    kept = json.loads(lists.hashes(json.dumps(stated)))
    assert kept["released"]["system_call"] == ["0" * 64, now]


def test_a_c_kernel_that_is_not_formatted_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kernels_c"
    folder.mkdir()
    shutil.copy(REPOSITORY / ".clang-format", tmp_path)
    (folder / "odd.c").write_text("int  main( void ){return 0 ;}\n", encoding="utf-8")
    monkeypatch.setattr(lists, "KERNELS", {"released": folder})
    monkeypatch.setattr(lists, "REPOSITORY", tmp_path)
    with pytest.raises(lists.NotFormatted, match=r"clang-format -i kernels_c/odd\.c"):
        lists.hashes('{"released": {}}')


def test_a_c_kernel_that_does_not_compile_ends_with_the_compilers_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def update(text: str) -> str:
        raise CompileError("odd", (), "odd.c:1: expected ';'")

    monkeypatch.setattr(lists, "lists", lambda: {lists.README: update})
    assert lists.main() == 1
    assert capsys.readouterr().err == "odd: odd.c:1: expected ';'\n"


def test_an_open_or_an_old_answer_of_a_script_becomes_that_of_the_saved_run() -> None:
    page = lists.INSTRUCTORS / "labs" / "03-system-call.md"
    text = page.read_text(encoding="utf-8")
    opened = re.sub(r"^(\| `system-call-\S+` \|)[^|]*\|", r"\1 ... |", text, flags=re.M)
    assert opened.count("| ... |") == 6
    filled = lists.answers_of("03-system-call", opened)
    assert "| ... |" not in filled
    assert "| 6.47 times |" in filled and "| conclusion 1 |" in filled
    assert lists.answers_of("03-system-call", text) == text
    old = text.replace("| 6.47 times |", "| 9.99 times |")
    assert old != text == lists.answers_of("03-system-call", old)
