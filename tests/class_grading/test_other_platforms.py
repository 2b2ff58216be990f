"""Gradescope and GitHub Classroom run what `grader gradescope` and `grader classroom` write.

Where bubblewrap works, their scripts run as documented: by root, with Gradescope's paths, in a root
folder that has nothing but the system's programs. The packages that they install are downloaded
once for all runs of the tests, without those that only notebooks and plots of our own need: that
every package of the list can be installed, `make` has shown.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from grader.class_grading import platforms
from grader.commands import cli
from grader.judging.worker import NotGraded, Worker
from grader.sandbox import refusal
from labs import paths
from support.c_programs import BUILT
from support.paths import FIXTURES, REPOSITORY
from support.programs import call
from support.small_course import FIGURES, Course
from support.small_course import LAB as SMALL_LAB

LAB = "01-timer-overhead"
HONEST = FIXTURES / "honest" / LAB
#: Its figures, and their points.
FIGURES_OF_LAB, ALL = 5, 18.0
#: Large packages of requirements.lock that no check of figures imports.
NOT_FOR_CHECKS = """
    babel contourpy debugpy fonttools ipykernel ipython ipywidgets jedi jupyterlab
    jupyterlab-widgets kiwisolver matplotlib parso psycopg widgetsnbextension
"""
#: That of the system, which the clean root has too.
PYTHON = "/usr/bin/python3"
pytestmark = pytest.mark.timeout(900)


class Root:
    """A root folder with the system's programs, and folders of its own for the rest."""

    def __init__(self, top: Path) -> None:
        self.top = top
        for name in ("opt", "autograder/source", "autograder/submission", "autograder/results"):
            (top / name).mkdir(parents=True)

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        own = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", **environment}
        own |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/packages"}
        # Without bytecode of all packages: most are never imported. ("false" is how pip spells it.)
        own["PIP_NO_COMPILE"] = "false"
        words = ["--unshare-all", "--clearenv", "--ro-bind", "/usr", "/usr"]
        words += ["--ro-bind", str(downloaded()), "/packages"]
        for name, value in own.items():
            words += ["--setenv", name, value]
        for name in ("bin", "sbin", "lib", "lib64"):
            words += ["--symlink", f"usr/{name}", f"/{name}"]
        for folder in ("opt", "autograder"):
            words += ["--bind", str(self.top / folder), f"/{folder}"]
        words += ["--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev"]
        words += ["--tmpfs", "/tmp", "--tmpfs", "/root", "--chdir", "/autograder"]
        return subprocess.run(["bwrap", *words, *command], capture_output=True, text=True)

    def graded(self, submission: Path) -> dict[str, Any]:
        """What run_autograder leaves for this submission."""
        shutil.rmtree(self.top / "autograder/submission")
        shutil.copytree(submission, self.top / "autograder/submission", symlinks=True)
        # Gradescope gives the result to all whom this names; nothing here depends on them.
        users = [{"email": "ada@uni.example"}, {"email": "grace@uni.example"}]
        metadata = self.top / "autograder/submission_metadata.json"
        metadata.write_text(json.dumps({"users": users, "submission_method": "upload"}))
        done = self.run("/autograder/run_autograder")
        assert done.returncode == 0, done.stderr
        found = json.loads((self.top / "autograder/results/results.json").read_text())
        assert isinstance(found, dict)
        return found


def shorten(lock: Path) -> str:
    """Leaves out of this list of packages what no check imports; returns what is left."""
    parts = re.split(r"\n(?=\S)", lock.read_text())
    names = NOT_FOR_CHECKS.split()
    left = "\n".join(part for part in parts if part.partition("==")[0] not in names)
    lock.write_text(left)
    return left


@functools.cache
def downloaded() -> Path:
    """The packages of the shortened list for the system's Python, kept for all runs of the tests.

    Skips if there is no index of packages.
    """
    new = Path(tempfile.mkdtemp(dir=BUILT))
    lock = Path(shutil.copy(REPOSITORY / "requirements.lock", new))
    told = shorten(lock) + call(PYTHON, "--version").stdout
    folder = BUILT / f"packages-{hashlib.sha256(told.encode()).hexdigest()[:16]}"
    if folder.exists():
        shutil.rmtree(new)
    else:
        call(PYTHON, "-m", "venv", new / "venv", check=True)
        words = ("--no-deps", "--require-hashes", "-r", lock, "-d", new / "wheels")
        pip: list[str | Path] = [new / "venv" / "bin" / "python", "-m", "pip", "download", "-q"]
        if call(*pip, *words, timeout=800).returncode != 0:
            pytest.skip("there is no index of packages")
        shutil.rmtree(new / "venv")
        new.rename(folder)
    return folder / "wheels"


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "autograder.zip"
    assert cli.main(["gradescope", "1", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def root(packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Root:
    """A root folder in which setup.sh has run."""
    if sys.platform != "linux" or os.getuid() != 0 or refusal() is not None:
        pytest.skip(f"needs root on Linux, and a sandbox: {refusal()}")
    usable = "import ensurepip, sys, venv; sys.exit(not (3, 10) <= sys.version_info < (3, 14))"
    if not Path(PYTHON).exists() or call(PYTHON, "-c", usable).returncode != 0:
        pytest.skip("the system has no Python 3.10 to 3.13 with venv")
    made = Root(tmp_path_factory.mktemp("root"))
    subprocess.run(["unzip", "-q", packed, "-d", made.top / "autograder/source"], check=True)
    shorten(made.top / "autograder/source/requirements.lock")
    done = made.run("bash", "/autograder/source/setup.sh")
    assert done.returncode == 0, done.stderr
    shutil.copy(made.top / "autograder/source/run_autograder", made.top / "autograder")
    return made


@pytest.fixture(params=["here", "in a clean root"])
def grade(request: pytest.FixtureRequest) -> Callable[[Path], dict[str, Any]]:
    """The results on a submission: by the same function in this process, and by the script."""
    if request.param == "here":
        return lambda submission: platforms.results(submission, LAB)
    made = request.getfixturevalue("root")
    assert isinstance(made, Root)
    return made.graded


def as_specified(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The tests by name, of what holds to Gradescope's format."""
    assert isinstance(found["score"], float) and found["output_format"] == "text"
    for test in found["tests"]:
        assert set(test) <= {"name", "score", "max_score", "status", "output", "output_format"}
        assert test.get("status") in ({"passed", "failed"} if "score" in test else {None})
        assert test["output"] and test["output_format"] in {"text", "html"}
    scores = [test.get("score", 0.0) for test in found["tests"]]
    assert found["score"] == pytest.approx(sum(scores))
    return {test["name"]: test for test in found["tests"]}


def test_an_honest_submission_gets_all_points_and_its_report_waits(
    grade: Callable[[Path], dict[str, Any]], tmp_path: Path
) -> None:
    shutil.copytree(HONEST, tmp_path / LAB)  # as Gradescope unpacks what `labs hand-in` makes
    subprocess.run(["git", "init", "-q", tmp_path], check=True)  # or takes it from GitHub
    found = grade(tmp_path)
    tests = as_specified(found)
    assert found["score"] == ALL and ".git" not in found["output"]
    assert "data:image/svg+xml" in tests["timer-overhead-fenced"]["output"]
    assert "follows from recordings/fenced.csv" in tests["timer-overhead-fenced"]["output"]
    assert "score" not in tests["report"] and "A person grades" in tests["report"]["output"]
    assert "wait for a person" in found["output"]


def test_a_wrong_figure_gets_its_finding(tmp_path: Path) -> None:
    shutil.copytree(HONEST, tmp_path, dirs_exist_ok=True)
    figures = json.loads((tmp_path / "figures.json").read_text())
    figures["timer-overhead-fenced"]["unit"] = "us"
    (tmp_path / "figures.json").write_text(json.dumps(figures))
    found = platforms.results(tmp_path, LAB)
    test = as_specified(found)["timer-overhead-fenced"]
    assert test["status"] == "failed" and "unit-slip" in test["output"]
    assert found["score"] == ALL - (test["max_score"] - test["score"]) < ALL


def test_a_hostile_submission_runs_nothing_and_gives_itself_nothing(
    grade: Callable[[Path], dict[str, Any]], tmp_path: Path
) -> None:
    shutil.copytree(HONEST, tmp_path / "in" / LAB)
    inside = tmp_path / "in" / LAB
    figures = json.loads((inside / "figures.json").read_text())
    figures["timer-overhead-fenced"]["unit"] = "<script>alert(1)</script>"
    (inside / "figures.json").write_text(json.dumps(figures))
    ran = "raise SystemExit('a file of the student was run')"
    for name in ("sitecustomize", "json", "numpy", "grader", "labs"):
        for folder in (inside, tmp_path / "in"):
            (folder / f"{name}.py").write_text(ran)
    (inside / "results.json").write_text('{"score": 1000}')
    (inside / "recordings" / "clocks.csv").unlink()
    (inside / "recordings" / "clocks.csv").symlink_to("/etc/passwd")
    found = grade(tmp_path / "in")
    assert "recordings/clocks.csv: it is a link" in found["output"]
    assert found["score"] == 0.0
    (inside / "recordings" / "clocks.csv").unlink()
    found = platforms.results(tmp_path / "in", LAB)
    assert found["score"] < ALL and "<script>" not in json.dumps(found)


def test_nothing_handed_in_is_no_failure_of_ours(tmp_path: Path) -> None:
    found = platforms.results(tmp_path, LAB)
    tests = as_specified(found)
    assert found["score"] == 0.0 and "it is empty" in found["output"]
    assert "labs hand-in" in found["output"]
    assert "not handed in" in tests["timer-overhead-fenced"]["output"]


def test_where_our_own_check_fails_there_is_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platforms, "_AUTOGRADER", tmp_path)
    monkeypatch.setattr(Worker, "judge", lambda *_: NotGraded("the check was ended by SIGKILL"))
    for folder in ("submission", "results"):
        (tmp_path / folder).mkdir()
    (tmp_path / "results" / "results.json").write_text("{}")
    with pytest.raises(SystemExit, match="ended by SIGKILL"):
        platforms.main([LAB])
    assert not (tmp_path / "results" / "results.json").exists()


def test_the_wheel_holds_what_its_record_says(packed: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        assert archive.getinfo("run_autograder").external_attr >> 16 == 0o100755
        [name] = [each for each in archive.namelist() if each.endswith(".whl")]
        wheel = archive.extract(name, tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        [record] = [each for each in archive.namelist() if each.endswith("/RECORD")]
        rows = [line.split(",") for line in archive.read(record).decode().splitlines()]
        assert sorted(row[0] for row in rows) == sorted(archive.namelist())
        for path, stated, _ in rows[:-1]:
            digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(path)).digest())
            assert stated == f"sha256={digest.decode().rstrip('=')}", path
        assert f"labs/released/{LAB}/{LAB}.ipynb" in archive.namelist()
        assert not [each for each in archive.namelist() if "__pycache__" in each]


# GitHub Classroom.


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder, released = tmp_path / "template", tmp_path / "release" / LAB
    shutil.copytree(paths.released() / LAB, released)
    (released / "ticklab-course.json").write_text("{}")
    assert cli.main(["classroom", LAB, str(folder), "--course", str(tmp_path)]) == 0
    assert (folder / LAB / "ticklab-course.json").is_file()
    shutil.copytree(HONEST, folder / LAB, dirs_exist_ok=True)
    return folder


def steps(repository: Path) -> Sequence[str]:
    """The commands of the workflow, in their order."""
    workflow = yaml.safe_load((repository / ".github/workflows/check.yml").read_text())
    return [step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step]


def test_the_steps_of_the_workflow_check_the_figures(root: Root, repository: Path) -> None:
    inside = root.top / "autograder" / "repository"
    shutil.copytree(repository, inside)
    shorten(inside / ".github/ticklab/requirements.lock")
    script = "\n".join(["cd /autograder/repository", *steps(repository)])
    summary = root.top / "autograder" / "summary.md"
    done = root.run(
        "bash", "-e", "-c", script,
        PATH="/opt/ticklab/bin:/usr/bin:/bin", GITHUB_STEP_SUMMARY="/autograder/summary.md",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"### {LAB}: 18 of 18 points" in summary.read_text()


def test_verdicts_become_annotations_and_a_summary(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = json.loads((repository / LAB / "figures.json").read_text())
    figures["timer-overhead-fenced"]["unit"] = "\n\n::error::100 %, <b>"
    del figures["timer-step"]
    (repository / LAB / "figures.json").write_text(json.dumps(figures))
    monkeypatch.chdir(repository)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(repository.parent / "summary.md"))
    capsys.readouterr()
    assert cli.main(["check", "--github", LAB]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"::error file={LAB}/figures.json,title=timer-overhead-fenced%3A ")
    assert lines[1].startswith(f"::notice file={LAB}/figures.json,title=timer-step%3A not handed")
    assert len(lines) == FIGURES_OF_LAB + 1 and lines[-1] == f"{LAB}: 12 of 18 points"
    summary = (repository.parent / "summary.md").read_text()
    assert summary.count("<details>") == FIGURES_OF_LAB
    assert "<b>" not in summary and "\n\n" not in summary.partition("\n\n")[2]


def test_clones_are_collected_by_their_logins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = Course(tmp_path)
    clones = tmp_path / "clones"
    for login in ("ada", "grace-hopper"):
        work = clones / f"{SMALL_LAB}-{login}"
        shutil.copytree(course.folder / "source" / SMALL_LAB, work / SMALL_LAB)
        (work / SMALL_LAB / "figures.json").write_text(json.dumps(FIGURES))
        (work / ".github").mkdir()
        (work / ".github" / "check.yml").write_text("on: push")
        for words in (["init", "-q"], ["add", "."]):
            subprocess.run(["git", "-C", work, *words], check=True)
    words = ["collect", str(clones), "--lab", SMALL_LAB, "--course", str(course.folder)]
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    assert "clones of GitHub Classroom" in said and "grace-hopper" in said
    for login in ("ada", "grace-hopper"):
        assert (course.folder / "submitted" / login / SMALL_LAB / "figures.json").is_file()
        assert not list((course.folder / "submitted" / login).rglob(".git*"))
