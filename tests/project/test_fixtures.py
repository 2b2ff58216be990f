"""Recipes make all that lies under tests/fixtures, except for what was measured."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.pitfalls import CATALOGUE
from labs.c_kernels.toolchain import source_hash
from labs.recording.file import read
from support.fixtures import recipe
from support.fixtures import tree as fixtures
from support.fixtures.missing import labs, measure_missing
from support.fixtures.recipe import RECIPES, BadRecipe, LabFolder, NotMeasured
from support.fixtures.tree import Tree, differences, whole, write
from support.paths import FIXTURES


@pytest.fixture(scope="module")
def tree() -> Tree:
    return whole()


def test_recipes_make_every_file_byte_for_byte(tree: Tree, tmp_path: Path) -> None:
    assert sorted(write(tree, tmp_path)) == sorted(tree.made)
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    there = {str(path.relative_to(FIXTURES)) for path in FIXTURES.rglob("*") if path.is_file()}
    assert made | tree.measured == there
    other = [
        name
        for name in sorted(made)
        if (tmp_path / name).read_bytes() != (FIXTURES / name).read_bytes()
    ]
    assert other == []


def test_making_them_again_changes_no_file(tree: Tree, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES, tmp_path / "fixtures")
    assert write(tree, tmp_path / "fixtures") == []
    assert differences(tree, tmp_path / "fixtures") == []


def test_a_file_that_no_recipe_makes_is_found(tree: Tree, tmp_path: Path) -> None:
    copy = tmp_path / "fixtures"
    shutil.copytree(FIXTURES, copy)
    wrong = copy / "pitfalls/unit-slip/wrong"
    figures = (wrong / "figures.json").read_text(encoding="utf-8")
    (wrong / "figures.json").write_text(figures.replace("20.6", "20.7"), encoding="utf-8")
    with (wrong / "recordings/fenced.csv").open("ab") as recording:
        recording.write(b"fenced,4,120,0,52\n")
    (wrong / "recordings/more.csv").write_bytes(b"")
    (copy / "pitfalls/unit-slip/near/figures.json").unlink()
    found = [line.partition(":")[0] for line in differences(tree, copy)]
    assert sorted(found) == [
        "pitfalls/unit-slip/near/figures.json",
        "pitfalls/unit-slip/wrong/figures.json",
        "pitfalls/unit-slip/wrong/recordings/fenced.csv",
        "pitfalls/unit-slip/wrong/recordings/more.csv",
    ]


def test_every_pitfall_has_its_recipes_and_each_states_the_mistake(tree: Tree) -> None:
    assert tree.made
    codes = {pitfall.code for pitfall in CATALOGUE}
    assert {name for name in RECIPES if name.endswith(("/wrong", "/near"))} == {
        f"{code}/{kind}" for code in codes for kind in ("wrong", "near")
    }
    assert {name.partition("/")[0] for name in RECIPES} == codes
    assert [name for name, each in RECIPES.items() if not (each.__doc__ or "").strip()] == []


def test_measured_recordings_are_as_written_and_state_where(tree: Tree) -> None:
    origins = list(fixtures.origins(tree))
    assert len(origins) > 200
    for origin in origins:
        assert origin.command.startswith("labs measure "), origin
        assert not origin.machine.startswith(","), origin
        assert not origin.machine.endswith(", "), origin
        assert origin.recording.intact, origin
        source = (FIXTURES / origin.name).with_suffix(".c")
        if source.is_file():
            stated = origin.recording.conditions["source.sha256"]
            assert source_hash(source.read_text(encoding="utf-8")) == stated, origin


def test_nothing_that_a_recipe_makes_is_called_measured(tree: Tree) -> None:
    assert set(tree.made) & tree.measured == set()


def test_a_recipe_must_fit_its_recording() -> None:
    folder = LabFolder("affinity-not-obtained/near")
    run = folder.run("fenced.csv", "timer_overhead --variant fenced")
    with pytest.raises(BadRecipe, match="was made by"):
        folder.run("fenced.csv", "timer_overhead --variant fence")
    with pytest.raises(BadRecipe, match="times"):
        folder.replaced(run, b"fenced", b"unfenced")


def test_no_recording_of_a_pitfall_is_large() -> None:
    """Git keeps each version of it for ever: `--samples` says how many it takes."""
    sizes = {path: path.stat().st_size for path in (FIXTURES / "pitfalls").rglob("*.csv")}
    assert {path: size for path, size in sizes.items() if size > 400_000} == {}


def test_a_missing_recording_is_measured_by_the_command_of_its_recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recipe, "FIXTURES", tmp_path)
    monkeypatch.setattr(recipe, "REPOSITORY", tmp_path)
    folder = tmp_path / "pitfalls" / "unit-slip" / "wrong"
    typed = []

    def read() -> None:
        LabFolder("unit-slip/wrong").run("one.csv", "timer_overhead --variant fenced")

    def run(words: Sequence[str], where: Path) -> int:
        typed.append((" ".join(words), where))
        shutil.copy(FIXTURES / "pitfalls/affinity-not-obtained/near/recordings/fenced.csv", where)
        (where / "fenced.csv").rename(where / words[-1])
        return 0

    with pytest.raises(BadRecipe, match=r"labs measure timer_overhead .* --save recordings/one"):
        read()
    measure_missing(read, run)
    few = "--samples 400 --warmup 10"
    command = f"measure timer_overhead --variant fenced {few} --save recordings/one.csv"
    assert typed == [(command, folder)]
    (folder / "recordings/one.csv").unlink()
    with pytest.raises(BadRecipe, match="ended with status 3"):
        measure_missing(read, lambda *_: 3)
    with pytest.raises(BadRecipe, match="there is no recording"):
        measure_missing(read, lambda *_: 0)


@pytest.mark.slow
@pytest.mark.measuring
def test_a_broken_c_kernel_of_a_recipe_is_measured_in_that_folder_too(tmp_path: Path) -> None:
    command = "kernels_c/broken/failed_open.c --variant read0 --samples 40"
    missing = NotMeasured("failing-call-timed/wrong", "own.csv", command)
    (tmp_path / "recordings").mkdir()
    assert labs(missing.words, tmp_path) == 0
    stated = read(tmp_path / "recordings" / "own.csv").conditions["command"]
    assert stated.startswith(f"labs measure {command} ")


@pytest.mark.slow
@pytest.mark.measuring
def test_a_recording_is_measured_in_the_folder_that_will_hold_it(tmp_path: Path) -> None:
    words = ("measure", "timer_overhead", "--samples", "40", "--save", "one.csv")
    assert labs(words, tmp_path) == 0
    assert (tmp_path / "one.csv").is_file()
