"""Archives as systems hand them out, made after the source of their programs or public readers.

`grader/class_grading/upload_names.py` reads their names and says where the patterns are from; this
module writes names by its own code.
"""

from __future__ import annotations

import datetime
import html
import html.entities
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Upload:
    """What one student or a team handed in on a platform: files by name.

    `time` is when, for those that write it; `members` are those of a team on Gradescope.
    """

    name: str
    number: int
    files: Files
    late: bool = False
    anonymous: str = ""
    first_attachment: int = field(default=0)
    login: str = ""
    email: str = ""
    time: datetime.datetime = datetime.datetime(2026, 3, 4, 17, 6, 7)
    members: tuple[Upload, ...] = ()


def zipped(files: Files, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file of these files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def handed_in(lab: str, files: Files, when: str = "20260304T050607Z") -> dict[str, bytes]:
    """An archive as `labs hand-in` makes it, by its name."""
    return {f"{lab}-{when}.zip": zipped({f"{lab}/{name}": each for name, each in files.items()})}


def canvas_names(upload: Upload) -> dict[str, bytes]:
    """The files of one student as Canvas names them (ContentZipper in lib/content_zipper.rb).

    The name is the sortable one, `Lovelace, Ada`. Each uploaded file has an id of its own.
    """
    name = re.sub(r"_(\d+)_", r"\1", upload.name).lower()
    who = f"anon_{upload.anonymous}" if upload.anonymous else str(upload.number)
    parts = [] if upload.anonymous else [name]
    parts += ["LATE"] if upload.late else []
    prefix = re.sub(r"\W", "", "_".join([*parts, who]))
    first = upload.first_attachment or upload.number * 100
    return {
        f"{prefix}_{first + n}_" + re.sub(r'[\x00/\\:*?"<>|]+', "_", file): content
        for n, (file, content) in enumerate(upload.files.items())
    }


def moodle_names(upload: Upload, *, folders: bool = True, since_4_1: bool = True) -> Files:
    """The files of one student as Moodle names them (mod/assign/classes/downloader.php)."""
    name = re.sub(r"[\x00-\x1f&<>\"`|':\\/]", "", upload.name.replace("_", " "))
    number = f"_{upload.number}" if upload.number else ""  # those in no team have none
    prefix = f"{name}{number}_assignsubmission_file"
    between = ("/" if since_4_1 else "_/") if folders else "_"
    return {f"{prefix}{between}{file}": content for file, content in upload.files.items()}


def canvas_zip(path: Path, uploads: Iterable[Upload]) -> Path:
    """Writes what Canvas hands out for a class."""
    files = {name: each for one in uploads for name, each in canvas_names(one).items()}
    path.write_bytes(zipped(files, zipfile.ZIP_STORED))
    return path


def moodle_zip(path: Path, uploads: Iterable[Upload], **how: bool) -> Path:
    """Writes what Moodle hands out for a class."""
    files = {name: each for one in uploads for name, each in moodle_names(one, **how).items()}
    path.write_bytes(zipped(files))
    return path


def sakai_names(upload: Upload) -> Files:
    """As Sakai names them (`zipSubmissions` of AssignmentServiceImpl.java), with its own files."""
    folder = f"Lab 1/{upload.name.replace('/', '_')}({upload.login})"
    files = {
        f"{folder}/Submission attachment(s)/{name}": each for name, each in upload.files.items()
    }
    own = {"timestamp.txt": b"20260304170607000", "comments.txt": b"", "feedbackText.html": b""}
    return files | {f"{folder}/{name}": each for name, each in own.items()}


def ilias_names(upload: Upload, team: str = "") -> Files:
    """As ILIAS names them (`downloadAllAssignmentFiles` of class.ilExSubmission.php).

    Its `getASCIIFilename` takes the letter from the name that HTML has for one, and `_` for others.
    """
    last, _, first = upload.name.partition(", ")
    name = html.escape(f"{last}_{first}_{upload.login}_{upload.number}", quote=False)
    name = "".join(f"&{_entity(each)};" if _entity(each) else each for each in name)
    name = re.sub(r"&(.)[^;]*;", r"\1", name)
    ascii_name = re.sub(rb"[\x7f-\xff]", b"_", name.encode()).decode().replace("/", "_")
    late = "Late Submission - " if upload.late else ""
    folder = f"Lab_1_12/Submissions/{f'Team {team}/' if team else ''}{ascii_name}"
    return {f"{folder}/{late}{file}": each for file, each in upload.files.items()}


def _entity(letter: str) -> str:
    return "" if letter.isascii() else html.entities.codepoint2name.get(ord(letter), "")


def brightspace_names(upload: Upload, *, folders: bool = True) -> Files:
    """As programs read them that unpack what Brightspace hands out."""
    when = upload.time.strftime("%b %-d, %Y %-I%M %p")
    who = f"{upload.number}-67890 - {upload.name} - {when}"
    return {f"{who}{'/' if folders else ' - '}{file}": each for file, each in upload.files.items()}


def blackboard_names(upload: Upload) -> Files:
    """As `nbgrader zip_collect` and programs read them that unpack what Blackboard hands out."""
    prefix = f"Lab 1_{upload.login}_attempt_{upload.time:%Y-%m-%d-%H-%M-%S}"
    text = f"Name: {upload.name} ({upload.login})\nAssignment: Lab 1\n".encode()
    return {f"{prefix}.txt": text} | {f"{prefix}_{file}": c for file, c in upload.files.items()}


def gradescope_files(uploads: Iterable[Upload]) -> Files:
    """What Gradescope hands out for a class: a folder for each submission, and whose each is."""
    folder, metadata = "assignment_12_export", ["---"]
    files: dict[str, bytes] = {}
    for upload in uploads:
        submission = f"submission_{upload.number}"
        files |= {f"{folder}/{submission}/{file}": c for file, c in upload.files.items()}
        metadata += [f"{submission}:", "  :submitters:"]
        for who in upload.members or (upload,):
            metadata.append(f"  - :name: {json.dumps(who.name, ensure_ascii=False)}")
            metadata += [f"    :sid: '{who.login}'", f"    :email: {who.email}"]
        metadata += [f"  :created_at: {upload.time} Z", "  :score: 0.0", "  :status: processed"]
    return files | {f"{folder}/submission_metadata.yml": "\n".join(metadata).encode()}
