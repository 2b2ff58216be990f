"""The C kernels that are wrong on purpose: each short, each building alone, each with a twin."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from labs.c_kernels import toolchain
from labs.c_kernels.c_source import measured_region
from labs.run import broken, variants

NAMES = broken.names()
#: Makes the same program as by default, or none where there is a warning.
STRICT = "-O2 -Werror"


@pytest.mark.parametrize("name", NAMES)
def test_it_is_short_and_says_what_is_wrong(name: str) -> None:
    kernel = broken.find(name)
    lines, words = len(kernel.source.splitlines()), len(kernel.mistake.split())
    assert lines <= broken.MOST_LINES, f"{kernel.path.name} has {lines} lines: shorten it"
    assert 4 <= words <= 40, f"{kernel.path.name}: its mistake has {words} words"
    assert measured_region(kernel.source)


@pytest.mark.parametrize("name", NAMES)
def test_it_builds_alone_without_a_warning(name: str, tmp_path: Path) -> None:
    path = broken.find(name).path
    command = [*toolchain.find_compiler().command, "-std=gnu11", "-E", str(path)]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / name)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"it needs no folder of ours for its headers: {done.stderr}"
    toolchain.build(path, tuple(STRICT.split()))


@pytest.mark.parametrize("name", NAMES)
def test_its_repaired_twin_measures_what_it_claims_to(name: str) -> None:
    kernel = broken.find(name)
    # With the program of the test above, if it is built as most are.
    plan = replace(kernel, options=(f"--flags={STRICT}", *kernel.options)).plan()
    twin = kernel.twin_plan()
    listed = {each.name: each for each in variants.of_kernel(twin.kernel, twin.flags)}
    assert set(twin.variants) <= listed.keys()
    mine = variants.of_kernel(plan.kernel, plan.flags)
    assert mine[0].name in listed, "its author believes to measure what the twin measures"
    for each in mine:
        if each.name in listed:
            assert each.declared.estimand == listed[each.name].declared.estimand, each.name


def test_an_unknown_one_is_told_with_one_like_it_or_with_the_command_that_lists_all() -> None:
    with pytest.raises(KeyError, match="`labs broken`"):
        broken.find("nowhere")
    with pytest.raises(KeyError, match="did you mean cached_getpid"):
        broken.find("cached_getpit")


def test_one_that_does_not_say_what_is_wrong_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "silent.c").write_text("/* nothing */\nint main(void) { return 0; }\n")
    monkeypatch.setattr(broken, "folder", lambda: tmp_path)
    with pytest.raises(broken.BadBroken, match="lacks Repaired and Wrong on purpose"):
        broken.find("silent")
