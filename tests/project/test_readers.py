"""What a stranger may have written is read by functions that follow no link, never wait and stop.

Each call that opens or copies a file is one of those functions, or is listed here because the file
is one that the kit or the person at the keyboard has made. READERS lists who calls the functions.
"""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from labs.c_kernels import toolchain
from labs.course import handed_in
from labs.recording.run_conditions import UNKNOWN, kind_in_file
from support.paths import REPOSITORY

#: The functions that read a stranger's file, by module.
CAREFUL = {
    "labs.files": {"read_bounded", "read_head"},
    "grader.submissions.safe_files": {
        "read_regular", "open_regular", "open_folder", "opened", "copy", "read_ahead",
        "not_empty",
    },
    "grader.class_grading.uploaded_archives": {"opened_zip", "opened_folder"},
}  # fmt: skip

#: What is made of the kit's own files, on this machine, for a course or for the docs.
MADE_HERE = (
    "grader/demonstration.py", "grader/examples/", "grader/lab_pages/", "grader/docs_site/",
)  # fmt: skip

#: The functions that call a careful one, by what they read, and how much of it at most.
READERS = {
    "figures.json, predictions.json, answers.json: 256 KB": {
        "json_text.read_entries", "handed_in._figures_in", "guidance._Seen.__init__",
    },
    "recordings: 8 MB": {
        "file._read", "run_conditions.kind_in_file", "session._holds", "figures.make_room",
        "graded_class._contents", "class_flags.stated_in", "submitted_notebook.holds_of",
    },
    "C beside a recording; C that a person names: 128 KB beside a recording, else 8 MB": {
        "sources.source_beside", "plan.must_not_replace_other_c", "toolchain.text_of_c",
    },
    "notebooks: 16 MB": {
        "submitted_notebook.read_submitted", "submitted_notebook.digest_of",
        "submitted_notebook.main", "answers.is_written", "answers._written",
        "lab_names.of_notebook", "handed_in._holds", "own_report._report",
    },
    "what labs hand-in packs, and what was handed in: as above, and 230 MB": {
        "hand_in.contents", "handed_in._read",
    },
    "the student's copy of the labs, and its settings: 256 MB": {
        "account.read_course", "panel_runs.read", "start._read_manifest", "start._hash_of",
    },
    "timestamp.txt: 200 bytes": {
        "careful_course.read_time", "lab_folder.handed_in",
    },
    "a folder of the exchange, and its secret: 4 KB": {
        "nbgrader_exchange.read_entry", "nbgrader_exchange._doubts", "nbgrader_exchange._check",
        "nbgrader_exchange._secret", "nbgrader_exchange._check_notebook",
    },
    "every regular file of a submission, to copy it: 64 MB, 500 files": {
        "nbgrader_exchange.Collected.put", "grading_process._graded",
        "autograde.RegularFilesOnly.init_assignment", "rerun_own_c.rerun",
    },
    "archives, and the folders of a download: 230 MB a student": {
        "class_roster.opened_source", "uploaded_archives._Reader._in_archive", "platforms._take",
        "uploaded_archives._below", "uploaded_archives._open_below",
    },
    "tables that a person names: 16 MB": {
        "class_roster.read_roster", "class_figures.read_class", "grade_exports.read_table",
    },
    "records and receipts of collecting: 64 MB": {
        "student_folders.record_in", "student_folders.trouble_with", "collect_class._write",
    },
    "graded notebooks and pages, which hold a student's text: 64 MB": {
        "graded_class.read_graded", "graded_class._notebook", "gradebook_grades.reasons_of",
        "feedback_page.page_of", "feedback_page.keep_beside", "feedback_page.is_outdated",
        "grade_exports.write_moodle_feedback", "class_roster._read_pseudonyms",
    },
    "the keys and certificate of a class in the room, a student's secret in it: 256 KB": {
        "class_keys.certificate_of", "in_class.Kept.read",
    },
    "what the kit knows of this machine: 4 KB": {
        "description._read_place",
    },
}  # fmt: skip

OPENS = re.compile(
    r"(^|\.)(open|open_code|FileIO|fdopen|read_text|read_bytes|ZipFile|TarFile|load|loadtxt"
    r"|genfromtxt|fromfile|memmap|mmap|copy|copy2|copyfile|copytree|move|unpack_archive|connect"
    r"|extract|extractall|getlines)$"
)
#: The constants of a module, /proc and the kit's C are no stranger's.
OURS = re.compile(
    r"^(copy\.copy|_?[A-Z_]+\.|\(?_HERE |Path\(__file__\)|Path\(f?'/proc"
    r"|\(?paths\.(kernels_c|released)\()"
)
WRITES = re.compile(r"open\('[wax]b?'|fdopen\(\w+, 'w|ZipFile\(\w+, 'w'|O_WRONLY|os\.devnull")

#: The other calls, and why each file is no stranger's, or is safe: `in` is checked before.
LISTED = {
    # how the careful functions open
    "files._open_regular: os.open", "files.read_bounded: os.fdopen", "files.read_head: os.fdopen",
    "safe_files.copy: found.open", "safe_files.copy: os.fdopen", "safe_files.hash_of: path.open",
    "safe_files.open_folder: os.open", "safe_files.open_regular: os.open",
    "safe_files.opened: os.open", "safe_files.read_regular: os.fdopen",
    "uploaded_archives._open_below: os.fdopen",
    "uploaded_archives.Item.copy_to: self.open", "uploaded_archives.opened_zip: zipfile.ZipFile",
    "uploaded_archives.opened_folder: os.open", "files.denied: os.open",
    # bytes that one of them has read
    "file._rows_in: np.loadtxt", "handed_in._read: zipfile.ZipFile",
    "handed_in._member: archive.open", "submitted_notebook._as_png: Image.open",
    "class_roster._submitters: yaml.load",
    # the network, and a file that only `grader live` writes
    "in_class._Room.connect: super().connect", "live_server._own_address: probe.connect",
    "class_state.ClassState.__init__: sqlite3.connect",
    # the OS, and pipes
    "files.text_of: file.open", "files._sync_folder: os.open",
    "description.cores_of_one_kind: path.read_text", "c_process._is_ready: stat.read_bytes",
    "sandbox._mapped: file.read_text", "sandbox._children: (task / 'children').read_text",
    "worker.serve: os.fdopen", "worker.main: os.fdopen",
    # what a person names: a download, a library to link with, an archive of one's own labs
    "class_roster.opened_source: source.open", "toolchain.fingerprint: file.open",
    "html._is_own: path.open",
    # the kit's own files
    "toolchain._headers_hash: header.read_bytes", "catalogue.of_name: source.read_text",
    "published._rows: (_DATA / name).open",
    "guide.of_lab: path.read_text", "lab_names.topics_of: path.read_text",
    "start.update_copy: source.read_bytes", "broken_pair.Pair.regions: twin.read_text",
    "broken.BrokenKernel.source: self.path.read_text", "broken.read_from: path.read_text",
    "sources._by_hash: path.read_text", "rerun_own_c._lay_out: shutil.copyfile",
    # what this run has written
    "other_tools.traced: trace.read_text", "__main__.printed: made.read_bytes",
    "provisioner.SandboxProvisioner.pre_launch: connection.read_bytes",
    # what the instructor's course holds beside submissions
    "rubric.of_course: file.read_text", "autograde.read_released: path.read_text",
    "student_folders.released_notebooks: path.read_text",
    "grading_process._graded: shutil.copy", "grading_process._plan: Path(path).read_bytes",
    "course.NameCourse.preprocess: (course / FILE_NAME).read_bytes",
    "course._labs_in: notebook.read_bytes", "release.copy_labs: shutil.copytree",
    "release._demand_ids: path.read_text", "release._demand_marks: nbformat.read",
    "release._keep_earlier: shutil.copy", "release._keep_earlier: path.read_bytes",
    "release._keep_earlier: (new / path.name).read_bytes",
    "release.CourseRelease._release: shutil.copytree",
    "autograde_class.Run.plan: path.read_text", "class_roster._alone: os.open",
    "class_flags.EvidenceRegister.opened: sqlite3.connect",
    # what collecting and grading have written, after the careful functions
    "grading_process.read_result: path.open", "autograde_class.Entering._flag: path.read_text",
    "course_folder.Staged.init_destination: shutil.copytree",
    "verdict_cells.notes_of: notebook.open", "nbgrader_exchange._sync: os.open",
    "nbgrader_exchange.Collected.alone: os.open",
    "nbgrader_exchange.CarefulReleaseFeedback._release: shutil.copy",
    "provisioner._copy_files: shutil.copyfile",
    # what is packed for another platform: the kit's own files, and the lab that a course released
    "platforms._lock: (folder / _LOCK).read_bytes", "platforms._files: path.read_bytes",
    "platforms._write_wheel: distribution.read_text", "platforms.write_autograder: archive.open",
    "platforms.write_classroom: shutil.copytree",
    # the labs' source that the instructor names
    "course._unpack: zipfile.ZipFile", "course._unpack: packed.extractall",
    "course._unpack: tarfile.open", "course._unpack: packed_tar.extractall",
    # a file of the kit, and one that a careful function has opened
    "run_warnings.is_the_kits: source.read_bytes", "safe_files.read_ahead: os.fdopen",
    # on Gradescope's machine: its own list, and what the instructor uploaded
    "gradescope_autograder.main: (autograder / 'submission_metadata.json').read_text",
    "gradescope_autograder.main: (graded / 'students.json').read_text",
    "gradescope_autograder.main: (graded / 'results' / each / 'results.json').read_bytes",
}  # fmt: skip

Called = tuple[str, ast.Call]


parsed = functools.cache(ast.parse)


@functools.cache
def calls(text: str) -> tuple[Called, ...]:
    """Each call in a module, with the function that it is in."""

    def walk(node: ast.AST, where: tuple[str, ...]) -> Iterator[Called]:
        for child in ast.iter_child_nodes(node):
            inner = where
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = (*where, child.name)
            if isinstance(child, ast.Call):
                yield ".".join(where), child
            yield from walk(child, inner)

    return tuple(walk(parsed(text), ()))


def last_name(call: ast.Call) -> str:
    """What is called, without what stands before its last dot."""
    whole = call.func
    return (
        whole.id
        if isinstance(whole, ast.Name)
        else f".{whole.attr}"
        if isinstance(whole, ast.Attribute)
        else ""
    )


def careful_names(module: str, text: str) -> set[str]:
    """The careful functions that a module takes by name."""
    return {
        each.asname or each.name
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.ImportFrom)
        for each in node.names
        if each.name in CAREFUL.get(node.module or "", ())
    } | CAREFUL.get(module, set())


def readers(module: str, text: str) -> set[str]:
    """The functions of a module that call a careful one."""
    known, short = careful_names(module, text), module.rpartition(".")[2]
    return {f"{short}.{where}" for where, call in calls(text) if last_name(call) in known}


def opening(module: str, text: str) -> set[str]:
    """The calls that open a file without a careful function, and are not surely ours."""
    known = set() if module in CAREFUL else careful_names(module, text)
    found = set()
    for where, call in calls(text):
        name = last_name(call)
        of_format = name == ".read" and ast.unparse(call.func) == "nbformat.read"
        if not (OPENS.search(name) or of_format) or name in known:
            continue
        if name == ".copy" and not call.args:  # a dictionary
            continue
        whole = ast.unparse(call)
        if not OURS.search(whole) and not WRITES.search(whole):
            found.add(f"{module.rpartition('.')[2]}.{where}: {ast.unparse(call.func)}")
    return found


def modules() -> Iterator[tuple[str, str]]:
    for package in ("labs", "grader"):
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            name = path.relative_to(REPOSITORY).as_posix()
            if not name.startswith(MADE_HERE):
                module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                yield module, path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_file_is_opened_by_a_careful_function_or_is_listed() -> None:
    found: set[str] = set().union(*(opening(*each) for each in modules()))
    assert found - LISTED == set(), "a stranger's file? read it by labs.files or safe_files"
    assert LISTED - found == set()


def test_who_reads_what_a_stranger_wrote_is_listed() -> None:
    named = [name for names in READERS.values() for name in names]
    found: set[str] = set().union(*(readers(*each) for each in modules()))
    found = {each for each in found if not each.startswith("safe_files.")}
    assert sorted(named) == sorted(found)


def test_another_reader_is_found() -> None:
    for module, text in (
        ("grader.submissions.safe_files", "def f(path):\n    return path.read_text()"),
        (
            "grader.class_grading.collect_class",
            "def f(p):\n    return (p / 'x').read_bytes()",
        ),
        ("grader.judging.lab_folder", "def f(p):\n    with open(p) as file:\n        pass"),
        ("labs.course.figures", "def f(p):\n    return np.load(p)"),
        ("grader.with_nbgrader.autograde", "def f(p):\n    return nbformat.read(p, 4)"),
        ("grader.with_nbgrader.release", "def f(p):\n    return p.parent.open().read()"),
        (
            "grader.class_grading.uploaded_archives",
            "import shutil\ndef f(p):\n    shutil.copy(p, 2)",
        ),
    ):
        assert opening(module, text) - LISTED


def test_what_is_no_file_in_a_strangers_folder_is_passed_over(tmp_path: Path) -> None:
    """A pipe would be waited for, a link leads elsewhere, and a long file fills the memory."""
    lab = tmp_path / "01-timer-overhead"
    (lab / "recordings").mkdir(parents=True)
    (tmp_path / "handed-in").mkdir()
    archive = tmp_path / "handed-in" / f"{'01-timer-overhead'}-20260102T030405Z.zip"
    recording, own = lab / "recordings" / "run.csv", lab / "own.c"

    def pipe(path: Path) -> None:
        os.mkfifo(path)

    def link(path: Path) -> None:
        path.symlink_to("/dev/zero")

    def long(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(1 << 32)

    for make in (pipe, link, long):
        for path in (archive, recording, own):
            path.unlink(missing_ok=True)
            make(path)
        assert handed_in.newest(lab) is None
        assert kind_in_file(recording) == UNKNOWN
        with pytest.raises(OSError, match=r"own\.c|zero"):
            toolchain.text_of_c(own)
