"""A gradebook in PostgreSQL gets the same as one in SQLite, from a real server."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from grader.class_grading.autograde_class import Options, autograde
from support.formgrader import formgrader_api
from support.small_course import LAB
from support.small_exchange import ExchangeCourse

_BIN = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
STUDENTS = ("ada", "bob", "dora")


def as_server(*words: str | Path) -> None:
    """Runs a program of PostgreSQL, which refuses to run as root."""
    who = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*who, *map(str, words)], check=True, capture_output=True, cwd="/", timeout=120)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an empty database."""
    if not _BIN:
        pytest.skip("there is no PostgreSQL here: /usr/lib/postgresql/*/bin/initdb")
    if os.geteuid() == 0 and shutil.which("runuser") is None:
        pytest.skip("PostgreSQL refuses to run as root, and there is no runuser")
    pytest.importorskip("psycopg", reason="the extra `postgresql` is not installed")
    folder = Path(
        subprocess.check_output(["mktemp", "-d", "/tmp/ticklab-pg-XXXXXX"], text=True).strip()
    )
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        data, tools = folder / "data", _BIN[-1].parent
        as_server(tools / "initdb", "-D", data, "-A", "trust", "-U", "ticklab", "--no-sync")
        options = f"-k {folder} -c listen_addresses= -c fsync=off"
        as_server(tools / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield f"postgresql+psycopg://ticklab@/postgres?host={folder}"
        finally:
            as_server(tools / "pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def graded(course: ExchangeCourse) -> None:
    autograde(course.folder, LAB, Options(), lambda _: lambda count: None)


def rows(url: str) -> dict[str, Any]:
    with Gradebook(url) as gradebook:
        return {
            submission.student.id: (
                submission.score,
                sorted(
                    (one.name, one.auto_score, one.manual_score, one.needs_manual_grade)
                    for notebook in submission.notebooks
                    for one in notebook.grades
                ),
            )
            for submission in gradebook.assignment_submissions(LAB)
        }


def test_both_gradebooks_are_equal(server: str, tmp_path: Path) -> None:
    course = ExchangeCourse(tmp_path / "one")
    other = course.copied_to(tmp_path / "other")
    config = other.folder / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}\nc.CourseDirectory.db_url = {server!r}\n")
    urls = {course: f"sqlite:///{course.folder / 'gradebook.db'}", other: server}
    for each, url in urls.items():
        with pytest.MonkeyPatch.context() as patch, formgrader_api(each.folder, patch) as api:
            assert api.generate_assignment(LAB)["success"]
        for number, student in enumerate(STUDENTS):
            figures = {"cost": {"points": float(number)}, "step": "open"}
            each.submit(student, each.answered(), figures)
        graded(each)
        with Gradebook(url) as gradebook:
            gradebook.find_grade("cost", LAB, LAB, "bob").manual_score = 3.5
            gradebook.db.commit()
        (each.submitted("bob") / "timestamp.txt").write_text("2031-01-02 03:04:05 UTC")
        (each.folder / "autograded" / "bob" / LAB / f"{LAB}.ipynb").unlink()
        graded(each)
    assert not (other.folder / "gradebook.db").exists()
    assert rows(server) == rows(urls[course])
    assert rows(server)["bob"][1][0] == ("cost", 1.0, 3.5, True)
