"""Which paths of files are taken from archives and folders that others have made."""

from __future__ import annotations

import re
import unicodedata

from grader.evening.collect.naming import Parts
from grader.submissions.safe_copy import printable
from labs.common import limits

#: Windows opens a device for these, whatever their suffix.
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\..*)?", re.I)
_DRIVE = re.compile(r"[A-Za-z]:")


def shown(parts: Parts) -> str:
    """A path for a sentence."""
    return printable("/".join(parts))


def trouble_with_path(name: str) -> str:
    """Why the path `name` in an archive is not taken; "" if it is."""
    if "\0" in name:
        return "its name holds a NUL"
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        return "its name is an absolute path"
    parts = parts_of(name)
    if not parts:
        return "its name is empty"
    trouble = next(filter(None, map(trouble_with_part, parts)), "")
    if trouble:
        return trouble
    if len(name.encode("utf-8", "surrogatepass")) > limits.MOST_PATH_BYTES:
        return f"its path is longer than {limits.MOST_PATH_BYTES} bytes"
    return ""


def trouble_with_part(part: str) -> str:
    """Why one level of a path is not taken; "" if it is."""
    try:
        size = len(part.encode("utf-8"))
    except UnicodeEncodeError:
        return "its name is not valid text"
    if part == "..":
        return "its name leads out of its folder"
    if size > limits.MOST_NAME_BYTES:
        return f"its name is longer than {limits.MOST_NAME_BYTES} bytes"
    return "" if part.isprintable() else "its name holds a control character"


def trouble_on_windows(parts: Parts) -> str:
    """Why Windows, on which somebody may look at the file, cannot have it; "" if it can."""
    if any(_not_on_windows(part) for part in parts):
        return "Windows cannot have a file with its name"
    return ""


def _not_on_windows(part: str) -> bool:
    return bool(_DEVICE.fullmatch(part)) or ":" in part or part != part.rstrip(" .")


def parts_of(name: str) -> Parts:
    """The levels of a path; some programs on Windows write them with backslashes."""
    return tuple(part for part in name.replace("\\", "/").split("/") if part not in {"", "."})


def same_name(parts: Parts) -> str:
    """Two paths for which this is the same are one file on some systems."""
    return unicodedata.normalize("NFC", "/".join(parts)).casefold()
