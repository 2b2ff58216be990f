"""Archives as Canvas and Moodle hand them out, made after the source of their programs.

`grader/evening/upload_names.py` reads their names and says where the patterns are from; this
module writes names by its own code.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Upload:
    """What one student handed in on a platform: files by name."""

    name: str
    number: int
    files: Files
    late: bool = False
    anonymous: str = ""
    first_attachment: int = field(default=0)


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
    prefix = f"{name}_{upload.number}_assignsubmission_file"
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
