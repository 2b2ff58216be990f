"""Classes of 30 through each system and back: everybody's grade comes to its owner, twice.

The numbers of the systems are made to mislead: each is another student's in another system.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import io
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from nbgrader.api import Grade, Gradebook, Student, SubmittedAssignment, SubmittedNotebook
from traitlets.config import Config

from grader.class_grading import gradescope_autograder
from grader.commands.cli import main
from grader.with_nbgrader.course import CONFIG
from grader.with_nbgrader.settings import configure
from support.platform_archives import (
    Files,
    Upload,
    blackboard_names,
    brightspace_names,
    canvas_names,
    gradescope_files,
    handed_in,
    ilias_names,
    moodle_names,
    sakai_names,
    zipped,
)
from support.small_exchange import EARLY, LATE, SETTINGS

LAB = "01-small"
NAMES = (
    "Müller, Jörg", "O'Neil, Siobhán", "Meyer-Lüdenscheidt, Ann-Kathrin", "Li, Wei", "Li, Wei",
    "王, 小明", "Brown & Sons, Eve", "de la Cruz, Ana María", "Ångström, Åsa", "St. John, Bob",
    "Ng, X", "Şahin, Ömer", "Nguyễn, Văn Ánh", "Иванов, Пётр", "Lovelace, Ada", "Lovelace, Adam",
    "van Rossum, Guido", "D'Arcy-O'Brien, Una", "Smith, John", "Smith, John", "John, Smith",
    "Team, Al", "山田, 太郎", "García Márquez, José", "Weiß, Groß", "Æther, Ødegård",
)  # fmt: skip
RESUBMIT = 5


@dataclass(frozen=True)
class Person:
    """A student, with the numbers of all systems."""

    n: int
    name: str  # `Last, First`

    @property
    def login(self) -> str:
        return f"u_{self.n:02}" if self.n % 2 else f"s{self.n:02}"

    @property
    def email(self) -> str:
        return f"{self.login}@uni.example"

    @property
    def canvas(self) -> int:
        return 100 + self.n

    @property
    def participant(self) -> int:
        return 100 + (self.n * 7 + 3) % 30

    @property
    def local(self) -> str:
        return str(100 + (self.n * 11 + 5) % 30)

    @property
    def plain_name(self) -> str:
        last, _, first = self.name.partition(", ")
        return f"{first} {last}"

    @property
    def team(self) -> tuple[str, int]:
        """The name and the number of the team in Moodle; four are in none."""
        if self.n >= 26:
            return "Default group", 0
        return f"Team {'ABCDEFG'[self.n // 4]} & Co_{self.n // 4}", 100 + self.n // 4


def has_double(person: Person) -> bool:
    """Whether another one has the name, as far as the order of its parts is known."""
    return Counter(each.name for each in CLASS)[person.name] > 1


def has_double_in_any_order(person: Person) -> bool:
    words = Counter(tuple(sorted(each.name.split(", "))) for each in CLASS)
    return words[tuple(sorted(person.name.split(", ")))] > 1


CLASS = [
    Person(
        n,
        NAMES[n] if n < len(NAMES) else f"Student{chr(65 + n - 26)}, Ima{'abcd'[n - 26]}",
    )
    for n in range(30)
]


def score(n: int, attempt: int) -> float:
    return n + 100.0 * (attempt - 1)


def files(n: int, attempt: int, kind: str = "archive") -> dict[str, bytes]:
    """What the student hands in: the archive of `labs hand-in`, or the files one by one."""
    content = {"figures.json": json.dumps({"n": n, "attempt": attempt}).encode()}
    content[f"{LAB}.ipynb"] = b"{}"
    return (
        content if kind == "files" else dict(handed_in(LAB, content, f"2026030{attempt}T050607Z"))
    )


def second(n: int) -> tuple[int, str, bool]:
    """Attempt, form and lateness in the second download: five of each kind have handed in again."""
    kinds = [("archive", False), ("files", False), ("archive", True), ("files", True)]
    if n < RESUBMIT * len(kinds):
        return (2, *kinds[n // RESUBMIT])
    return 1, "archive", False


def uploads(attempt: int, of: Callable[[Person], Mapping[str, object]]) -> list[Upload]:
    """What all have handed in; `of` has the name and the number in the system."""
    made = []
    for person in CLASS:
        which, kind, late = second(person.n) if attempt == 2 else (1, "archive", False)
        known: dict[str, object] = {
            "name": person.name, "login": person.login, "email": person.email,
            "time": datetime.datetime(2026, 3, which, 17, 6, 7), "late": late,
            "files": files(person.n, which, kind), **of(person),
        }  # fmt: skip
        made.append(Upload(**known))  # type: ignore[arg-type]
    return made


def table(rows: Iterable[Iterable[object]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue()


Read = Callable[[Path, Path], dict[int, float]]


@dataclass(frozen=True)
class System:
    """One system: its download, the list for `--roster`, and how it reads grades.

    `refused` are those of whom nobody can say who they are, and `works` says whose work counts for
    a member of a team.
    """

    download: Callable[[int], Files]
    roster: Callable[[int], str] | None
    read: Read
    options: tuple[str, ...] = ()
    refused: Callable[[Person], bool] = lambda person: False
    works: Callable[[Person], int] = lambda person: person.n


def joined(names: Callable[[Upload], Files], all_of: Iterable[Upload]) -> dict[str, bytes]:
    return {name: content for one in all_of for name, content in names(one).items()}


def export(course: Path, *words: str) -> None:
    assert main(["export", LAB, "--course", str(course), *words]) == 0


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


# Canvas: by the id in the column `ID`, as its importer does.


def of_canvas(person: Person) -> dict[str, object]:
    return {"number": person.canvas, "first_attachment": 0}


def canvas_download(attempt: int) -> Files:
    found = [
        dataclasses.replace(each, first_attachment=each.number * 100 + attempt * 50)
        for each in uploads(attempt, of_canvas)
    ]
    return joined(canvas_names, found)


def canvas_gradebook(attempt: int) -> str:
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lab one (7)"]
    rows = [[p.name, p.canvas, p.local, p.login, "A", ""] for p in CLASS]
    return table([header, ["    Points Possible", "", "", "", "", "1000"], *rows])


def canvas_split(attempt: int) -> str:
    header = [
        "LastName",
        "FirstName",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        "Lab one (7)",
    ]
    rows = [[*p.name.split(", "), p.canvas, p.local, p.login, "A", ""] for p in CLASS]
    points = ["    Points Possible", "", "", "", "", "", "1000,00"]
    return table([header, points, *rows])


def canvas_reads(gradebook: Callable[[int], str]) -> Read:
    def read(course: Path, scratch: Path) -> dict[int, float]:
        (scratch / "gradebook.csv").write_text(gradebook(1), encoding="utf-8-sig")
        words = ("--gradebook", str(scratch / "gradebook.csv"), "--assignment", "Lab one")
        export(course, "--canvas", str(scratch / "up.csv"), *words)
        people = {str(person.canvas): person.n for person in CLASS}
        rows = rows_of(scratch / "up.csv")[1:]
        return {people[row["ID"]]: float(row["Lab one (7)"]) for row in rows}

    return read


# Moodle: by the number in the column `Identifier`.


def of_moodle(person: Person) -> dict[str, object]:
    return {"name": person.plain_name, "number": person.participant}


def worksheet(blind: bool = False, team: bool = False) -> Callable[[int], str]:
    def write(attempt: int) -> str:
        hidden = blind and attempt == 1
        header = ["Identifier"]
        header += [] if hidden else ["Full name", "ID number", "Username", "Email address"]
        header += ["Status", *(["Group"] if team else []), "Grade", "Maximum Grade",
                   "Last modified (grade)", "Feedback comments"]  # fmt: skip
        rows = []
        for p in CLASS:
            row: list[object] = [f"Participant {p.participant}"]
            row += [] if hidden else [p.plain_name, p.local, p.login, p.email]
            rows.append([*row, "", *([p.team[0]] if team else []), "", "1000.00", "-", ""])
        return table([header, *rows])

    return write


def moodle_reads(blind: bool = False, team: bool = False) -> Read:
    def read(course: Path, scratch: Path) -> dict[int, float]:
        attempt = 2 if (course / "second").exists() else 1
        (scratch / "sheet.csv").write_text(worksheet(blind, team)(attempt), encoding="utf-8-sig")
        words = ("--worksheet", str(scratch / "sheet.csv"))
        export(course, "--moodle", str(scratch / "up.csv"), *words)
        people = {f"Participant {person.participant}": person.n for person in CLASS}
        rows = rows_of(scratch / "up.csv")
        return {people[row["Identifier"]]: float(row["Grade"]) for row in rows if row["Grade"]}

    return read


def moodle_download(attempt: int) -> Files:
    return joined(moodle_names, uploads(attempt, of_moodle))


def blind_download(attempt: int) -> Files:
    def of(person: Person) -> dict[str, object]:
        return of_moodle(person) | ({"name": "Participant"} if attempt == 1 else {})

    return joined(moodle_names, uploads(attempt, of))


def first_of_team(person: Person) -> int:
    return min(each.n for each in CLASS if each.team == person.team)


def team_download(attempt: int) -> Files:
    def of(person: Person) -> dict[str, object]:
        return {"name": person.team[0], "number": person.team[1]}

    found = uploads(attempt, of)
    return joined(moodle_names, [found[n] for n in {first_of_team(person) for person in CLASS}])


# Gradescope: as `run_autograder` finds who has handed in. Three pairs have handed in together.


def partner(person: Person) -> int:
    """The one of a pair whose work counts."""
    return person.n - 1 if person.n in {21, 27, 29} else person.n


def gradescope_download(attempt: int) -> Files:
    def of(person: Person) -> dict[str, object]:
        again = second(person.n)[0] == 2 and attempt == 2
        return {"number": 5000 + person.n + 30 * again, "login": person.local}

    found = uploads(attempt, of)
    pairs = {n: tuple(found[each.n] for each in CLASS if partner(each) == n) for n in (20, 26, 28)}
    return gradescope_files(
        dataclasses.replace(each, members=pairs.get(n, ()))
        for n, each in enumerate(found)
        if partner(CLASS[n]) == n
    )


def gradescope_reads(course: Path, scratch: Path) -> dict[int, float]:
    export(course, "--gradescope", str(scratch / "source"))
    found = {}
    for person in CLASS:
        group = [each for each in CLASS if partner(each) == partner(person)]
        who = {"users": [{"email": each.email.upper()} for each in group]}
        (scratch / "submission_metadata.json").write_text(json.dumps(who))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AUTOGRADER", str(scratch))
            gradescope_autograder.main()
        found[person.n] = json.loads((scratch / "results/results.json").read_text())["score"]
    return found


# Blackboard, ILIAS, Sakai, Brightspace and nbgrader's exchange: the table with everybody's grades.


def csv_reads(ids: Callable[[Person], str]) -> Read:
    def read(course: Path, scratch: Path) -> dict[int, float]:
        export(course, "--csv", str(scratch / "up.csv"))
        people = {ids(person): person.n for person in CLASS}
        rows = rows_of(scratch / "up.csv")
        return {
            people[row["student_id"]]: float(row["score"])
            for row in rows
            if row["timestamp"] or row["waits_for_a_person"]
        }

    return read


def by_login(person: Person) -> str:
    return person.login


def own_list(column: str) -> Callable[[int], str]:
    def write(attempt: int) -> str:
        rows = [[p.login, {"id": p.canvas, "name": p.plain_name}[column]] for p in CLASS]
        return table([["student", column], *rows])

    return write


def ilias_download(attempt: int) -> Files:
    found = joined(ilias_names, uploads(attempt, of_canvas))
    return {**found, "Lab_1_12/Lab_1.xlsx": b"PK"}


def sakai_download(attempt: int) -> Files:
    found = joined(sakai_names, uploads(attempt, of_canvas))
    return {**found, "Lab 1/grades.csv": b"Display ID,ID,Last Name,First Name,grade"}


def all_attempts(attempt: int) -> list[Upload]:
    """Both attempts of those who have handed in again, as Blackboard and Brightspace have them."""
    first = uploads(1, of_canvas)
    again = uploads(2, of_canvas) if attempt == 2 else []
    return [*first, *(each for each in again if each.time.day == 2)]


def blackboard_download(attempt: int) -> Files:
    return joined(blackboard_names, all_attempts(attempt))


def brightspace_download(attempt: int) -> Files:
    found = all_attempts(attempt)
    as_they_come = [
        dataclasses.replace(each, name=CLASS[each.number - 100].plain_name)
        if each.number % 3
        else each
        for each in found
    ]
    return {**joined(brightspace_names, as_they_come), "index.html": b"<html>"}


def brightspace_gradebook(attempt: int) -> str:
    header = [
        "OrgDefinedId",
        "Username",
        "Last Name",
        "First Name",
        "Email",
        "End-of-Line Indicator",
    ]
    rows = [[f"#{p.local}", f"#{p.login}", *p.name.split(", "), p.email, "#"] for p in CLASS]
    return table([header, *rows])


def exchange_download(attempt: int) -> Files:
    found: dict[str, bytes] = {}
    for person in CLASS:
        for which in range(1, second(person.n)[0] + 1 if attempt == 2 else 2):
            folder = f"{person.login}+{LAB}+{(EARLY, LATE)[which - 1]}+cmFuZG9t"
            found |= {f"{folder}/{k}": v for k, v in files(person.n, which, "files").items()}
            found[f"{folder}/timestamp.txt"] = (EARLY, LATE)[which - 1].encode()
            found[f"{folder}/submission_secret.txt"] = f"{person.n} {which}".encode()
    return found


def slug(person: Person) -> str:
    """As the id of Brightspace's students is made, whom no list names."""
    from grader.class_grading.upload_names import moodle_id

    name = person.plain_name if person.canvas % 3 else person.name
    return moodle_id(name, f"{person.canvas}-67890")


SYSTEMS = {
    "canvas": System(canvas_download, None, canvas_reads(canvas_gradebook)),
    "canvas, by its gradebook": System(
        canvas_download, canvas_gradebook, canvas_reads(canvas_gradebook)
    ),
    "canvas, names in two columns": System(
        canvas_download, canvas_split, canvas_reads(canvas_split)
    ),
    "canvas, by id": System(canvas_download, own_list("id"), canvas_reads(canvas_gradebook)),
    "canvas, by name": System(
        canvas_download, own_list("name"), canvas_reads(canvas_gradebook),
        refused=has_double_in_any_order,
    ),
    "moodle": System(moodle_download, None, moodle_reads()),
    "moodle, by its worksheet": System(moodle_download, worksheet(), moodle_reads()),
    "moodle, by name": System(
        moodle_download, own_list("name"), moodle_reads(), refused=has_double
    ),
    "moodle, blind and revealed": System(blind_download, None, moodle_reads(blind=True)),
    "moodle, blind and revealed, by its worksheet": System(
        blind_download, worksheet(blind=True), moodle_reads(blind=True)
    ),
    "moodle, teams": System(
        team_download, None, moodle_reads(team=True), works=first_of_team
    ),
    "moodle, teams, by its worksheet": System(
        team_download, worksheet(team=True), moodle_reads(team=True), works=first_of_team
    ),
    "gradescope": System(gradescope_download, None, gradescope_reads, works=partner),
    "gradescope, by canvas's gradebook": System(
        gradescope_download, canvas_gradebook, gradescope_reads, works=partner
    ),
    "blackboard": System(blackboard_download, None, csv_reads(by_login)),
    "blackboard, by moodle's worksheet": System(
        blackboard_download, worksheet(), csv_reads(by_login)
    ),
    "ilias": System(ilias_download, None, csv_reads(lambda p: str(p.canvas))),
    "ilias, by login": System(ilias_download, own_list("name"), csv_reads(by_login)),
    "sakai": System(sakai_download, None, csv_reads(by_login)),
    "brightspace": System(brightspace_download, None, csv_reads(slug)),
    "brightspace, by its gradebook": System(
        brightspace_download, brightspace_gradebook, csv_reads(by_login),
        refused=has_double_in_any_order,
    ),
    "nbgrader's exchange": System(exchange_download, None, csv_reads(by_login)),
    "a copy of nbgrader's exchange": System(exchange_download, None, csv_reads(by_login)),
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "course"
    (folder / "release" / LAB).mkdir(parents=True)
    (folder / "release" / LAB / f"{LAB}.ipynb").write_text("{}")
    (folder / "nbgrader_config.py").write_text(CONFIG + SETTINGS)
    configure(Config())
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment(LAB)
        gradebook.add_notebook(LAB, LAB)
        gradebook.add_grade_cell("cost", LAB, LAB, max_score=1000, cell_type="code")
    return folder


@pytest.fixture
def course(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "course")


def grade(course: Path) -> None:
    """Gives each submission the points that its files say, all at once: nbgrader's own functions
    commit each of them several times."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        lab = gradebook.find_assignment(LAB)
        (notebook,) = lab.notebooks
        (cell,) = notebook.grade_cells
        known = {student.id: student for student in gradebook.students}
        grades = {one.notebook.student.id: one for one in gradebook.db.query(Grade)}
        for path in course.glob(f"submitted/*/{LAB}/figures.json"):
            name, said = path.parent.parent.name, json.loads(path.read_text())
            if name not in grades:
                student = known.get(name) or Student(id=name)
                submission = SubmittedAssignment(assignment=lab, student=student)
                one = SubmittedNotebook(notebook=notebook, assignment=submission)
                grades[name] = Grade(cell_id=cell.id, notebook=one)
                gradebook.db.add(submission)
            grades[name].auto_score = score(said["n"], said["attempt"])
            grades[name].needs_manual_grade = False
        gradebook.db.commit()


@pytest.mark.parametrize("name", SYSTEMS)
def test_thirty_in_and_thirty_out_twice(
    name: str, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = SYSTEMS[name]
    some_are_refused = any(map(system.refused, CLASS))
    for attempt in (1, 2):
        source = tmp_path / f"download {attempt}.zip"
        source.write_bytes(zipped(system.download(attempt)))
        inbound = tmp_path / "exchange" / "ticklab" / "inbound"
        if name == "nbgrader's exchange":
            shutil.unpack_archive(source, inbound)
        where = "exchange" if inbound.exists() else str(source)
        words = ["collect", where, "--course", str(course), "--lab", LAB]
        if system.roster is not None:
            (tmp_path / "list.csv").write_text(system.roster(attempt), encoding="utf-8")
            words += ["--roster", str(tmp_path / "list.csv")]
        for again in range(attempt):
            assert main(words) == int(some_are_refused), capsys.readouterr().out
            said = capsys.readouterr().out
            assert not again or ("students collected" not in said and "replaces" not in said)
        if attempt == 2:
            (course / "second").touch()
        grade(course)
        scratch = tmp_path / f"out {attempt}"
        scratch.mkdir()
        expected = {
            p.n: score(system.works(p), second(system.works(p))[0] if attempt == 2 else 1)
            for p in CLASS
            if not system.refused(p)
        }
        assert system.read(course, scratch) == expected
