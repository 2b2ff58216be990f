"""The C kernels that are wrong on purpose: each short, each building alone, each with a twin."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from labs.c_kernels import toolchain
from labs.run import broken, variants

NAMES = broken.names()
STRICT = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_short_and_says_what_is_wrong(name: str) -> None:
    kernel = broken.find(name)
    assert len(kernel.source.splitlines()) <= broken.MOST_LINES
    assert 4 <= len(kernel.mistake.split()) <= 40
    assert toolchain.measured_region(kernel.source)


@pytest.mark.parametrize("name", NAMES)
def test_it_builds_alone(name: str, tmp_path: Path) -> None:
    compiler = toolchain.find_compiler()
    command = [*compiler.command, *STRICT, str(broken.find(name).path), "-o", str(tmp_path / name)]
    done = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_its_repaired_twin_measures_what_it_claims_to(name: str) -> None:
    kernel = broken.find(name)
    plan, twin = kernel.plan(), kernel.twin_plan()
    listed = {each.name: each for each in variants.of_kernel(twin.kernel, twin.flags)}
    assert set(twin.variants) <= listed.keys()
    mine = variants.of_kernel(plan.kernel, plan.flags)
    assert mine[0].name in listed, "its author believes to measure what the twin measures"
    for each in mine:
        if each.name in listed:
            assert each.declared.estimand == listed[each.name].declared.estimand, each.name


def test_an_unknown_one_is_told_with_those_there_are() -> None:
    with pytest.raises(KeyError, match=r"there is .*cached_getpid"):
        broken.find("nowhere")


def test_one_that_does_not_say_what_is_wrong_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "silent.c").write_text("/* nothing */\nint main(void) { return 0; }\n")
    monkeypatch.setattr(broken, "folder", lambda: tmp_path)
    with pytest.raises(broken.BadBroken, match="lacks Repaired and Wrong on purpose"):
        broken.find("silent")
