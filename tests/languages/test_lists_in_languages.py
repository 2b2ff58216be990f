"""`labs list` is in one language: no heading, question or description stays English."""

from __future__ import annotations

import pytest

from labs.c_kernels import catalogue
from labs.commands.cli import main
from labs.course import lab_names
from labs.languages import chosen
from labs.languages.po_file import languages
from labs.run import broken
from testing.languages.vocabulary import unknown_words

LISTS = ((), ("--labs",), ("--broken",), *((kernel,) for kernel in catalogue.names()))
NAMES = frozenset(
    (
        *("JupyterLab", "labs", "list", "measure", "start", "broken", "NAME", "KERNEL", "variant"),
        *(each.name for each in broken.all_of_them()),
    )
)


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("asked", LISTS, ids=lambda words: " ".join(words) or "all")
def test_no_word_of_a_list_stays_english(
    asked: tuple[str, ...],
    language: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    known = {*NAMES, *lab_names.labs(), *catalogue.names()}
    for kernel in catalogue.all_kernels():
        known |= {*kernel.variants, *catalogue.short(list(kernel.variants))}
    monkeypatch.setenv(chosen.VARIABLE, language)
    assert main(["list", *asked]) == 0
    assert unknown_words(capsys.readouterr().out, language, known) == []


def test_a_word_that_no_translation_has_is_seen() -> None:
    text = "ein Wechsel by the moon, `see this`, getpid(not this) --nor-this pipe-pinned"
    assert unknown_words(text, "de", ["pipe-pinned"]) == ["the", "moon"]
