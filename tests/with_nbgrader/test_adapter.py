"""The module that changes nbgrader refuses an nbgrader that it does not know."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import nbgrader.api
import nbgrader.apps.api
import nbgrader.apps.autogradeapp
import nbgrader.apps.generateassignmentapp
import nbgrader.apps.generatefeedbackapp
import nbgrader.server_extensions.formgrader.formgrader as formgrader
import pytest
from nbgrader import dbutil
from nbgrader.apps.dbapp import DbUpgradeApp
from traitlets.config import Config

from grader.with_nbgrader import settings
from grader.with_nbgrader.autograde import CourseAutograde
from grader.with_nbgrader.feedback import CourseFeedback
from grader.with_nbgrader.pages.formgrader import ListEnvironment
from grader.with_nbgrader.release import CourseRelease
from grader.with_nbgrader.settings import configure
from support.hostile.modules import plant
from support.notebook_as_markdown import of_code
from support.paths import REPOSITORY
from support.programs import call
from support.small_course import LAB, MARKER

CHANGED = (
    (nbgrader.apps.api, "Autograde"),
    (nbgrader.apps.autogradeapp, "Autograde"),
    (nbgrader.apps.api, "GenerateFeedback"),
    (nbgrader.apps.generatefeedbackapp, "GenerateFeedback"),
    (nbgrader.apps.api, "GenerateAssignment"),
    (nbgrader.apps.generateassignmentapp, "GenerateAssignment"),
    (nbgrader.api, "create_engine"),
    (nbgrader.api, "get_alembic_version"),
    (dbutil, "upgrade"),
    (DbUpgradeApp, "_backup_db_file"),
    (formgrader, "Environment"),
)

#: A settings file that meets an nbgrader without the class that we replace.
SETTINGS = """
import nbgrader.apps.autogradeapp as module
module.BaseConverter.init_notebooks = lambda self, course: None
from grader.nbgrader_config import configure
c = get_config()
configure(c, __file__)
"""


def test_the_installed_nbgrader_is_as_the_adapter_knows_it() -> None:
    assert settings.differences_from_tested() == []


def test_the_versions_that_are_named_are_those_that_are_locked() -> None:
    lock = (REPOSITORY / "requirements-dev.lock").read_text(encoding="utf-8")
    locked = re.findall(r"^nbgrader==([\d.]+)", lock, re.MULTILINE)
    assert tuple(locked) == settings.TESTED_WITH


@pytest.fixture
def unchanged(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[Any, str], object]:
    """Put stand-ins where the adapter changes something, so that a test sees what it changes."""
    stand_ins: dict[tuple[Any, str], object] = {}
    for module, name in CHANGED:
        real = getattr(module, name)
        copy = type(name, (real,), {}) if isinstance(real, type) else _like(real)
        monkeypatch.setattr(module, name, copy)
        stand_ins[module, name] = copy
    return stand_ins


def _like(real: Any) -> object:
    def stand_in() -> None: ...

    stand_in.__wrapped__ = real  # type: ignore[attr-defined]
    return stand_in


def test_adapting_twice_is_adapting_once(unchanged: dict[tuple[Any, str], object]) -> None:
    for _ in range(2):
        settings.adapt()
        now = [getattr(module, name) for module, name in CHANGED]
        grading: list[object] = [CourseAutograde, CourseAutograde, CourseFeedback, CourseFeedback]
        grading += [CourseRelease, CourseRelease]
        tables: list[object] = [settings.one_engine, settings.alembic_version]
        tables += [settings.upgrade, settings.copy_of_gradebook]
        assert now == [*grading, *tables, ListEnvironment]


@pytest.mark.parametrize("full_name", settings.RELIED_ON)
def test_what_is_missing_is_named_and_nothing_is_changed(
    full_name: str, unchanged: dict[tuple[Any, str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, _, path = full_name.partition(":")
    first, _, rest = path.partition(".")
    owner: Any = importlib.import_module(module)
    mro = getattr(getattr(owner, first), "__mro__", (object,))
    if rest in vars(mro[0]) and not any(hasattr(base, rest) for base in mro[1:]):
        monkeypatch.delattr(mro[0], rest)
        unchanged.pop((mro[0], rest), None)
    else:  # a function, or one that a base class has too: then the class itself
        monkeypatch.delattr(owner, first)
        unchanged.pop((owner, first), None)
    with pytest.raises(settings.NbgraderDiffers) as raised:
        settings.adapt()
    said = str(raised.value)
    assert path in said and module in said
    assert f"pip install nbgrader=={settings.TESTED_WITH[-1]}" in said
    for (module_, name), before in unchanged.items():
        assert getattr(module_, name) is before


def test_other_parameters_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dbutil, "upgrade", lambda gradebook: None)
    with pytest.raises(
        settings.NbgraderDiffers,
        match=r"upgrade of nbgrader\.dbutil takes \(gradebook\), not \(db_url, revision\)",
    ):
        configure(Config())


def test_nbgrader_ends_and_does_not_run_students_code(tmp_path: Path) -> None:
    """nbgrader goes on after an ordinary error in a settings file, with settings of its own."""
    (tmp_path / "nbgrader_config.py").write_text(SETTINGS)
    submitted = tmp_path / "submitted" / "ada" / LAB
    submitted.mkdir(parents=True)
    source = f"open({str(tmp_path / MARKER)!r}, 'w')"
    (submitted / f"{LAB}.ipynb").write_text(json.dumps(of_code(source)))
    words = (sys.executable, "-m", "nbgrader", "autograde", LAB, "--create")
    done = call(
        *words,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "JUPYTER_CONFIG_DIR": str(tmp_path)},
    )
    assert done.returncode == 1
    assert "init_notebooks of nbgrader.converters.base takes (self, course)" in done.stderr.replace(
        "BaseConverter.", ""
    )
    assert not (tmp_path / MARKER).exists()
    assert not (tmp_path / "autograded").exists()


def test_alembic_is_found_without_path_and_path_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = plant(tmp_path, noted_in=tmp_path / "ran.txt")
    monkeypatch.chdir(tmp_path)  # as if typed in a submission
    before = dict(os.environ)
    configure(Config())
    assert dict(os.environ) == before
    with nbgrader.api.Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as gradebook:
        assert gradebook.students == []
    dbutil.upgrade(f"sqlite:///{tmp_path / 'gradebook.db'}")
    assert ran() == []
