"""C kernels that are wrong on purpose: how they are found and what their comment must say.

What is true of each of them is in tests/pitfalls/test_pitfalls.py, because each is built there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from labs.run import broken


def test_an_unknown_one_is_told_with_one_like_it_or_with_the_command_that_lists_all() -> None:
    with pytest.raises(broken.NoSuchBroken, match="`labs broken`"):
        broken.find("nowhere")
    with pytest.raises(broken.NoSuchBroken, match="did you mean cached_getpid"):
        broken.find("cached_getpit")


def test_one_that_does_not_say_what_is_wrong_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "silent.c").write_text("/* nothing */\nint main(void) { return 0; }\n")
    monkeypatch.setattr(broken, "folder", lambda: tmp_path)
    with pytest.raises(broken.BadBroken, match="lacks Repaired and Wrong on purpose"):
        broken.find("silent")
