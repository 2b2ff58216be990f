"""`grader course`: a course folder in one command, from here, an archive, or released labs."""

from __future__ import annotations

import functools
import io
import json
import shutil
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from grader import demonstration
from grader.commands import cli
from grader.demonstration import STUDENTS, NoEvidence
from grader.judging.lab_folder import check_folder
from grader.with_nbgrader import course
from grader.with_nbgrader.release import release
from labs import paths
from support.paths import FIXTURES, REPOSITORY
from support.small_course import LAB, write_source

FIRST = "01-timer-overhead"
SDIST = "ticklab-0.1.0"


def test_a_course_is_laid_out_by_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["course", "my course"]) == 0
    made = tmp_path / "my course"
    assert "grader.nbgrader_config" in (made / "nbgrader_config.py").read_text()
    source = REPOSITORY / "notebooks" / FIRST / f"{FIRST}.ipynb"
    assert (made / "source" / FIRST / f"{FIRST}.ipynb").read_bytes() == source.read_bytes()
    printed = capsys.readouterr().out
    assert "with their solutions" in printed and "cd 'my course'" in printed
    assert f"nbgrader generate_assignment {FIRST}" in printed and "Formgrader" in printed
    assert "Only you can read it." in printed and stat.S_IMODE(made.stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701])
def test_a_course_that_others_can_read_is_told_and_left_as_it_is(
    mode: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shared, labs_of_mine = tmp_path / "shared", write_source(tmp_path / "notebooks")
    shared.mkdir()
    shared.chmod(mode)
    assert cli.main(["course", str(shared), "--labs", str(labs_of_mine)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"can read it. To prevent that: chmod 700 {shared}" in printed
    assert stat.S_IMODE(shared.stat().st_mode) == mode


def test_what_is_in_the_course_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labs_of_mine = write_source(tmp_path / "notebooks")
    for config in ("", "# mine\n"):
        assert cli.main(["course", str(tmp_path / "c"), "--labs", str(labs_of_mine)]) == 0
        if not config:
            (tmp_path / "c" / "nbgrader_config.py").write_text("# mine\n")
    assert (tmp_path / "c" / "nbgrader_config.py").read_text() == "# mine\n"
    first, _, second = capsys.readouterr().out.partition("Next:")
    assert "Labs in it: 1" in first and "Its labs are as they were" in second
    assert all(way in second for way in ("release_assignment", "grader collect SOURCE"))
    assert max(len(line) for line in second.splitlines() if "   " in line) <= 80


def test_a_course_gets_the_labs_that_it_lacks_only_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    labs_of_mine = write_source(tmp_path / "notebooks")
    words = ["course", str(tmp_path / "c"), "--labs", str(labs_of_mine)]
    assert cli.main(words) == 0
    source = tmp_path / "c" / "source"
    (source / LAB / f"{LAB}.ipynb").write_text("mine")
    shutil.copytree(labs_of_mine / LAB, labs_of_mine / "02-new")
    (labs_of_mine / "02-new" / f"{LAB}.ipynb").rename(labs_of_mine / "02-new" / "02-new.ipynb")
    # Without --labs, a lab that the instructor removed must not come back.
    with monkeypatch.context() as patch:
        patch.setattr(course, "_CHECKOUT", labs_of_mine.parent)
        assert cli.main(words[:2]) == 0
    assert sorted(each.name for each in source.iterdir()) == [LAB]
    assert "Its labs are as they were." in capsys.readouterr().out
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    assert "New labs in it: 02-new." in said and "1 of " in said and "stay" in said
    assert (source / "02-new" / "02-new.ipynb").is_file()
    assert (source / LAB / f"{LAB}.ipynb").read_text() == "mine"
    assert cli.main(words) == 0
    assert "Its labs are as they were. 2 of " in capsys.readouterr().out


def test_an_interrupted_copy_of_the_labs_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(source: Path, destination: Path) -> None:
        destination.mkdir()
        raise KeyboardInterrupt

    words = ["course", str(tmp_path / "c"), "--labs", str(write_source(tmp_path / "notebooks"))]
    with monkeypatch.context() as patch:
        patch.setattr(course, "copy_labs", interrupted)
        assert cli.main(words) == 130
    assert not (tmp_path / "c" / "source").exists()
    assert cli.main(words) == 0
    assert (tmp_path / "c" / "source" / LAB / f"{LAB}.ipynb").is_file()


@pytest.mark.parametrize("name", ["nowhere", "empty", "text.tar.gz"])
def test_a_place_without_labs_is_refused_and_nothing_made(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.tar.gz").write_text("no archive")
    assert cli.main(["course", str(tmp_path / "c"), "--labs", str(tmp_path / name)]) == 1
    error = capsys.readouterr().err
    assert name in error and not (tmp_path / "c").exists()


def files_of_source(tmp_path: Path) -> dict[str, bytes]:
    """The files of an archive of the source."""
    notebook = (write_source(tmp_path / "notebooks") / LAB / f"{LAB}.ipynb").read_bytes()
    return {
        f"{SDIST}/pyproject.toml": b"",
        f"{SDIST}/notebooks/{LAB}/{LAB}.ipynb": notebook,
        f"{SDIST}/notebooks/{LAB}/data/x.csv": b"x\n1\n",
        f"{SDIST}/notebooks/{LAB}/.hidden": b"out",
    }


def as_tar(files: dict[str, bytes], path: Path) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def as_zip(files: dict[str, bytes], path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(("pack", "suffix"), [(as_tar, ".tar.gz"), (as_zip, ".zip")])
def test_the_labs_of_an_archive_are_taken_and_nothing_else(
    pack: object, suffix: str, tmp_path: Path
) -> None:
    archive = tmp_path / f"{SDIST}{suffix}"
    pack(files_of_source(tmp_path), archive)  # type: ignore[operator]
    assert cli.main(["course", str(tmp_path / "c"), "--labs", str(archive)]) == 0
    source = tmp_path / "c" / "source"
    taken = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    assert taken == {f"{LAB}/{LAB}.ipynb", f"{LAB}/data/x.csv"}


@pytest.mark.parametrize(("pack", "suffix"), [(as_tar, ".tar.gz"), (as_zip, ".zip")])
@pytest.mark.parametrize("place", [f"{SDIST}/notebooks/../../../outside.txt", "/outside.txt"])
def test_nothing_of_an_archive_comes_outside_of_its_folder(
    pack: object, suffix: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    archive = tmp_path / f"{SDIST}{suffix}"
    pack({place: b"out", **files_of_source(tmp_path)}, archive)  # type: ignore[operator]
    cli.main(["course", str(tmp_path / "c"), "--labs", str(archive)])
    course_of_it = tmp_path / "c"  # zipfile takes the dots for no part of the name
    assert all(each.is_relative_to(course_of_it) for each in tmp_path.rglob("outside.txt"))
    assert not Path("/outside.txt").exists()


@pytest.mark.parametrize("link", ["", "/etc/passwd"])
def test_a_python_that_cannot_filter_an_archive_takes_it_and_no_link_in_it(
    link: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.11.2 has no filter yet."""
    monkeypatch.delattr(tarfile, "data_filter", raising=False)
    monkeypatch.setattr(tarfile.TarFile, "extractall", functools.partialmethod(_extract_unfiltered))
    archive = tmp_path / f"{SDIST}.tar.gz"
    as_tar(files_of_source(tmp_path), archive)
    if link:
        with tarfile.open(archive, "w:gz") as packed:
            member = tarfile.TarInfo(f"{SDIST}/notebooks/link")
            member.type, member.linkname = tarfile.SYMTYPE, link
            packed.addfile(member)
    assert cli.main(["course", str(tmp_path / "c"), "--labs", str(archive)]) == (1 if link else 0)
    assert (tmp_path / "c" / "source" / LAB / f"{LAB}.ipynb").exists() is not bool(link)


_extracted = tarfile.TarFile.extractall


def _extract_unfiltered(self: tarfile.TarFile, path: Path) -> None:
    """As `extractall` was before it had a filter."""
    _extracted(self, path, filter="fully_trusted")


def test_an_installed_package_gives_its_released_labs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(write_source(tmp_path / "notebooks"), tmp_path / "released")
    monkeypatch.setattr(course, "_CHECKOUT", tmp_path / "site-packages")
    monkeypatch.setattr(paths, "released", lambda: tmp_path / "released")
    with course.source_labs() as labs:
        assert (labs.names, labs.solved) == ([LAB], False)


def honest_evidence(lab: str, folder: Path) -> None:
    """The evidence of the honest run that the project has saved."""
    for name in ("figures.json", "recordings"):
        saved = FIXTURES / "honest" / lab / name
        (shutil.copytree if saved.is_dir() else shutil.copy)(saved, folder / name)


@pytest.fixture(scope="module")
def with_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course from released labs with a class."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "notebooks").mkdir()
    shutil.copytree(REPOSITORY / "notebooks" / FIRST, folder / "notebooks" / FIRST)
    release(folder / "notebooks", folder / "released")
    # The lab is there already, so that nbgrader need not start: test_wheel lets it make the lab.
    shutil.copytree(folder / "released", folder / "c" / "release")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demonstration, "MeasuredEvidence", lambda: honest_evidence)
        words = ["course", str(folder / "c"), "--labs", str(folder / "released"), "--demo"]
        assert cli.main(words) == 0
    return folder / "c"


def test_every_student_of_the_class_has_handed_in(with_class: Path) -> None:
    submitted = with_class / "submitted"
    assert {path.name for path in submitted.iterdir()} == set(STUDENTS)
    for student in STUDENTS:
        assert (submitted / student / FIRST / "timestamp.txt").read_text().endswith(" UTC")
    assert all(v.points == v.max_points for v in check_folder(submitted / "honest" / FIRST, FIRST))


def test_a_text_names_what_was_measured_where_no_author_wrote_one(with_class: Path) -> None:
    path = with_class / "submitted" / "honest" / FIRST / f"{FIRST}.ipynb"
    [report] = [
        cell["source"]
        for cell in json.loads(path.read_text())["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "report"
    ]
    assert "timer-overhead-fenced: 21 ns" in report


def test_a_class_comes_into_no_course_that_is_in_use(
    with_class: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(with_class.rglob("*"))
    assert cli.main(["course", str(with_class), "--demo"]) == 1
    assert "not empty" in capsys.readouterr().err and sorted(with_class.rglob("*")) == before


def test_a_class_needs_a_lab_with_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["course", str(tmp_path / "c"), "--demo", "--lab", "00-start-here"]) == 1
    assert FIRST in capsys.readouterr().err and not (tmp_path / "c").exists()
    assert cli.main(["course", str(tmp_path / "c"), "--lab", FIRST]) == 1
    assert "--demo" in capsys.readouterr().err and not (tmp_path / "c").exists()


def test_a_class_that_cannot_measure_hands_in_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nothing(lab: str, folder: Path) -> None:
        (folder / "recordings").mkdir()
        raise NoEvidence("no C compiler")

    made = tmp_path / "c"
    source = tmp_path / "notebooks" / FIRST
    shutil.copytree(REPOSITORY / "notebooks" / FIRST, source)
    shutil.copytree(REPOSITORY / "notebooks" / FIRST, made / "release" / FIRST)
    monkeypatch.setattr(demonstration, "MeasuredEvidence", lambda: nothing)
    assert cli.main(["course", str(made), "--labs", str(source.parent), "--demo"]) == 1
    assert "no C compiler" in capsys.readouterr().err
    assert not (made / "submitted").exists() and not list(made.glob(".class-*"))
