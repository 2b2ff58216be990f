"""What the reader of a page has before a command: a folder, a course, a file from elsewhere."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from support.paths import FIXTURES, REPOSITORY
from support.platform_archives import Upload, canvas_zip, handed_in
from support.programs import call

_LAB, _OWN_C = "01-timer-overhead", "05-task-creation"
_STUDENTS = ("Lovelace, Ada", "Turing, Alan", "Hopper, Grace")
_DEMO = ("honest", "unit-slip", "tampered")
#: nbgrader's exchange outside of the machine's own one, and Jupyter for whoever may be root.
_NBGRADER = (
    "c = get_config()\nc.Exchange.root = {exchange!r}\nc.CourseDirectory.course_id = {id!r}\n"
)
_SERVER = "c = get_config()\nc.ServerApp.allow_root = True\n"


def settings(home: Path) -> dict[str, str]:
    """Variables that keep nbgrader and Jupyter within `home`."""
    folder = home / ".jupyter"
    folder.mkdir(exist_ok=True)
    exchange = home / "exchange"
    exchange.mkdir(exist_ok=True)
    exchange.chmod(0o777)
    text = _NBGRADER.format(exchange=str(exchange), id="ticklab")
    (folder / "nbgrader_config.py").write_text(text)
    (folder / "jupyter_server_config.py").write_text(_SERVER)
    return {"JUPYTER_CONFIG_DIR": str(folder), "JUPYTER_DATA_DIR": str(home / "jupyter-data")}


def installed(folder: Path) -> Path:
    """The programs of an environment with the kit, made in `folder` as the pages say."""
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    programs = environment / "bin"
    subprocess.run([programs / "pip", "install", "--quiet", str(source(folder))], check=True)
    return programs


def checkout(home: Path) -> Path:
    """The source, with the environment of somebody who works on it."""
    target = source(home)
    subprocess.run(["make", ".venv/dev", "build/released.made"], cwd=target, check=True)
    return target


def source(home: Path) -> Path:
    """The source as somebody has cloned it."""
    target = home / "ticklab"
    subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(target)], check=True)
    return target


def empty_folder(home: Path) -> Path:
    """A folder in which a person begins."""
    folder = home / "work"
    folder.mkdir()
    return folder


def lab_folder(home: Path) -> Path:
    """The student's folder of lab 01: all figures are there, and the report is written."""
    notebook = _released(home)
    shutil.copytree(FIXTURES / "honest" / _LAB, notebook.parent, dirs_exist_ok=True)
    content = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in content["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "report":
            cell["source"] = "The clock costs what the recording shows, and 5 ns is one step of it."
    notebook.write_text(json.dumps(content), encoding="utf-8")
    return notebook.parent


def course_with_anna(home: Path) -> Path:
    """A course in which anna has handed in lab 05."""
    course = home / "course"
    _run(home, home, "grader", "course", str(course))
    folder = course / "submitted" / "anna" / _OWN_C
    shutil.copytree(FIXTURES / "honest" / _OWN_C, folder)
    return course


def beside_my_course(home: Path) -> Path:
    """A folder with the course `my-course`."""
    folder = empty_folder(home)
    _run(home, folder, "grader", "course", "my-course")
    return folder


def demonstration(home: Path) -> Path:
    """A course in which a made-up class has handed in."""
    course = home / "my-demo"
    _run(home, home, "grader", "course", str(course), "--demo")
    return course


#: The C file that the reader of a page writes, and the page that shows it.
_WRITTEN = {"hits.c": "docs/defended-figure.md"}
_C_BLOCK = re.compile(r"^```c\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def before(command: str, folder: Path, home: Path) -> None:
    """Brings the files that `command`, typed in `folder`, reads from elsewhere."""
    for name, page in _WRITTEN.items():
        # `labs new` has written the first one; the reader measures it once as it is.
        if re.search(rf"\b{re.escape(name)} --within", command):
            (source,) = _C_BLOCK.findall((REPOSITORY / page).read_text(encoding="utf-8"))
            (folder / name).write_text(source, encoding="utf-8")
    named = re.search(r"collect (\S+\.zip)", command)
    if named:
        place = folder / named[1].replace("~", str(home))
        place.parent.mkdir(exist_ok=True)
        _canvas_download(place, home)
    if "--roster ~/Downloads/gradebook.csv" in command:
        columns = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
        logins = [(name, str(n), "", f"s{n}", "OS") for n, name in enumerate(_STUDENTS, 101)]
        _table(home / "Downloads" / "gradebook.csv", columns, logins)
    if "--roster worksheet.csv" in command:
        rows = [(f"Participant {n}", name, "") for n, name in enumerate(_STUDENTS, 101)]
        _table(folder / "worksheet.csv", ("Identifier", "Full name", "Email address"), rows)
    if "--gradebook exported.csv" in command:
        head = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{_LAB} (7)")
        possible = ("    Points Possible", "", "", "", "", "22")
        known = [(name, str(n), "", name, "OS", "") for n, name in enumerate(_DEMO, 1001)]
        _table(folder / "exported.csv", head, [possible, *known])
    if "--worksheet downloaded.csv" in command:
        head = ("Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade")
        more = ("Grade can be changed", "Last modified (grade)", "Feedback comments")
        listed = [
            (f"Participant {n}", name, f"{name}@uni.example", "", "", "22", "Yes", "-", "")
            for n, name in enumerate(_DEMO, 11)
        ]
        _table(folder / "downloaded.csv", (*head, *more), listed)
    if command.startswith("grader collect exchange"):
        _submitted_to_exchange(folder, home)
    if "--labs ticklab-0.1.0.tar.gz" in command:
        _run(home, REPOSITORY, "hatchling", "build", "-t", "sdist", "-d", str(folder))
    if command.startswith("grader report") and not (folder / "autograded").exists():
        _run(home, folder, "grader", "autograde", _LAB)
    if command.startswith("grader rerun 05-task-creation anna"):
        target = folder / "submitted" / "anna" / _OWN_C
        shutil.copytree(FIXTURES / "honest" / _OWN_C, target, dirs_exist_ok=True)
    if "--compare A B" in command:
        for name in ("A", "B"):
            _run(home, folder, "labs", "survey", "--quick", "--save", name)


def _canvas_download(place: Path, home: Path) -> None:
    notebook = _released(home).read_bytes()
    top = FIXTURES / "honest" / _LAB
    files = {
        str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()
    }
    files[f"{_LAB}.ipynb"] = notebook
    uploads = [
        Upload(name, number, handed_in(_LAB, files)) for number, name in enumerate(_STUDENTS, 101)
    ]
    canvas_zip(place, uploads)


def _released(home: Path) -> Path:
    labs = home / "ticklab-labs"
    if not labs.exists():
        _run(home, home, "labs", "start", "--no-lab")
    return labs / _LAB / f"{_LAB}.ipynb"


def _submitted_to_exchange(course: Path, home: Path) -> None:
    """The lab is released there, and a student has fetched and submitted it."""
    if not (course / "release" / _LAB).exists():
        _run(home, course, "nbgrader", "generate_assignment", _LAB)
    # The demonstration may have released it before, under the same id of a course.
    _run(home, course, "nbgrader", "release_assignment", _LAB, "--force")
    student = home / "student"
    student.mkdir(exist_ok=True)
    _run(home, student, "nbgrader", "fetch_assignment", _LAB)
    shutil.copytree(FIXTURES / "honest" / _LAB, student / _LAB, dirs_exist_ok=True)
    _run(home, student, "nbgrader", "submit", _LAB)


def _table(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])


def _run(home: Path, folder: Path, *words: str) -> None:
    """Runs a program of the environment that runs the benchmark. Raises CalledProcessError."""
    environment = {**os.environ, **settings(home), "HOME": str(home)}
    done = call(Path(sys.executable).parent / words[0], *words[1:], cwd=folder, env=environment)
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-1000:]
        raise subprocess.CalledProcessError(done.returncode, words, said)
