"""Which names of students are taken from folders: nbgrader uses such a name in many places.

The name becomes a path, a part of a regular expression, a key of the gradebook, and text on a page
and in a terminal. A line end in one name ended the grading of everybody behind it, and a star means
the whole class.
"""

from __future__ import annotations

_MOST_BYTES = 150
#: `*?[]` are globs in nbgrader's `--student`, commas separate students there, and the others have a
#: meaning in a path, in HTML, or in an address: the formgrader does not encode names in those.
_RESERVED = frozenset('/\\*?[]<>"&,#%')
#: `nbgrader export` writes names into a table, and a spreadsheet computes what begins so.
_FORMULA = "=+-@"


def trouble_with_name(name: str) -> str | None:
    """Why `name`, as the OS lists it, cannot be a student's; None if it can."""
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return "the student's name is not UTF-8 text"
    if not name:
        return "the student's name is empty"
    if size > _MOST_BYTES:
        return f"the student's name is longer than {_MOST_BYTES} bytes"
    if not name.isprintable():
        return "the student's name holds a line end, an escape or another control character"
    if name.startswith(".") or name != name.strip():
        return "the student's name begins with a dot, or with or ends in a blank"
    if name[0] in _FORMULA:
        return f"the student's name begins with {name[0]}, as a formula of a spreadsheet does"
    found = sorted(_RESERVED & set(name))
    if found:
        return f"the student's name holds {' '.join(found)}"
    return None
