"""Whose file it is by its name, and which paths are taken from archives and folders.

Canvas, Moodle, nbgrader's exchange or an instructor chose the names. The patterns are those of the
programs that make the archives (versions of 2026):

- Canvas, `lib/content_zipper.rb`: `NAME[_LATE]_USER_ATTACHMENT_FILE`, or, where grading is
  anonymous, `[LATE_]anon_ID_ATTACHMENT_FILE`. NAME is in small letters, without blanks. Two equal
  names get `-1`, `-2` before the suffix. A text or a link ends in `_USER_text.html`, `_link.html`.
- Moodle, `mod/assign/classes/downloader.php`: a folder `NAME_NUMBER_assignsubmission_file` for each
  student (before 4.1 with one more `_`), or `NAME_NUMBER_assignsubmission_file_FILE` without
  folders. NAME holds no `_`. NUMBER is the participant's in this assignment.
  A team has its own name and number, which can be another one's number of a participant, and
  those in no team have the folder `Default group_assignsubmission_file`.
- nbgrader's exchange: a folder `STUDENT+LAB+TIME+RANDOM`.
- Sakai, `AssignmentServiceImpl.zipSubmissions`: `NAME(ID)/Submission attachment(s)/FILE`, or with
  `_` for `/`, beside files of its own.
- ILIAS, `ilExSubmission::downloadAllAssignmentFiles`: `Submissions/LAST_FIRST_LOGIN_NUMBER/FILE`,
  with one folder `Team NUMBER` around those of a team. The names are in ASCII.
- Gradescope: `submission_NUMBER/FILE`; `submission_metadata.yml` beside them says whose each is.
- GitHub Classroom, `gh classroom clone student-repos`: a clone `ASSIGNMENT-LOGIN` for each student.
- Brightspace: `USER-ASSIGNMENT - NAME - TIME/FILE`, or with ` - ` for `/`. It is no open source:
  these are the names that public programs read which unpack its downloads.
- Blackboard: `ASSIGNMENT_USER_attempt_TIME_FILE`, and for each attempt a text `..._TIME.txt`. No
  open source either; `nbgrader zip_collect` documents these names.
"""

from __future__ import annotations

import datetime
import operator
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.submissions.safe_files import printable
from grader.with_nbgrader.careful_course import time_of
from labs import limits

Parts = tuple[str, ...]

#: Before 2014 it was `-late`; names have had no `-` since then.
_LATE = re.compile(r"(_LATE|-late|[ _-]?\(LATE\))$")
_CANVAS = re.compile(r"(?=_(\d{1,20})_(\d{1,20})_(.+)$)", re.DOTALL)
_CANVAS_ANONYMOUS = re.compile(r"(LATE_)?anon_([A-Za-z0-9]{5})_(\d{1,20})_(.+)", re.DOTALL)
_CANVAS_NO_FILE = re.compile(r"(.*)_(\d{1,20})_((?:text|link)\.html)", re.DOTALL)
_MOODLE = re.compile(
    r"(?P<name>[^_/]*)(?:_(?P<number>\d{1,20}))?_assignsubmission_(?P<plugin>[a-z0-9]+)"
    r"(?:_(?P<file>.*))?",
    re.DOTALL,
)
#: What Moodle's `clean_filename` removes from a name.
NOT_IN_FILES = re.compile(r"[\x00-\x1f\x7f&<>\"`|':\\/]")
#: As `labs hand-in` names an archive; Canvas and browsers add a number to a name that is taken.
#: ILIAS puts a mark before the name of what came late.
_HAND_IN = re.compile(
    r"(?:.* - )?(?P<lab>.+)-(?P<when>\d{8}T\d{6}Z)(?:[- ]?\(?\d{1,6}\)?)?\.zip", re.DOTALL
)


@dataclass(frozen=True)
class Named:
    """What the name of one file says.

    `key` belongs to one student in one source; two keys are two students, even if `number`, the id
    in the name, is the same. `path` is the file as the student named it; it is () if the program
    made the file. `order` grows with the time at which the file was handed in. `logins` are what
    can be the student's login, and `members` those of a team. What a name does not say is None,
    "" or ().
    """

    key: str
    number: str
    path: Parts
    name: str = ""
    late: bool | None = None
    when: datetime.datetime | None = None
    order: int | None = None
    lab: str = ""
    logins: tuple[str, ...] = ()
    email: str = ""
    members: tuple[Member, ...] = ()


@dataclass(frozen=True)
class Member:
    """One of a team: the id in this course, the name, and what else names this student."""

    student: str
    name: str = ""
    email: str = ""
    number: str = ""


@dataclass(frozen=True)
class Layout:
    """How one program names the files: `read` gives all that a name can mean, the likeliest first.

    `id_of` makes the id of a student whom no roster names. `numbers` says whether the ids in the
    names are numbers of this program; otherwise they are logins or addresses. `attempts` says
    whether files of one student with different `order` were handed in one after the other. Files
    that the program itself puts beside those of all students match `own`.
    """

    name: str
    read: Callable[[Parts], list[Named]]
    id_of: Callable[[Named], str] = operator.attrgetter("number")
    numbers: bool = False
    attempts: bool = False
    own: re.Pattern[str] | None = None

    def is_own(self, parts: Parts) -> bool:
        """Whether the program has made this file, for no student."""
        return self.own is not None and self.own.fullmatch("/".join(parts)) is not None


def hand_in_archive(name: str) -> tuple[str, datetime.datetime] | None:
    """The lab and the time in the name of an archive that `labs hand-in` made; None if neither."""
    found = _HAND_IN.fullmatch(name)
    if found is None:
        return None
    try:
        return found["lab"], datetime.datetime.strptime(found["when"], "%Y%m%dT%H%M%SZ")
    except ValueError:
        return None


def _read_canvas(parts: Parts) -> list[Named]:
    first, rest = parts[0], parts[1:]
    found = []
    anonymous = _CANVAS_ANONYMOUS.fullmatch(first)
    if anonymous is not None:
        late, number, attachment, file = anonymous.groups()
        key = f"anon_{number}"
        found.append(Named(key, number, (file, *rest), "", late is not None, None, int(attachment)))
    for match in _CANVAS.finditer(first):
        number, attachment, file = match.groups()
        name = _LATE.sub("", first[: match.start()])
        late = name != first[: match.start()]
        key = f"{name}_{number}"
        found.append(Named(key, number, (file, *rest), name, late, None, int(attachment)))
    no_file = _CANVAS_NO_FILE.fullmatch(first)
    if not found and no_file is not None:
        before, number, file = no_file.groups()
        name = _LATE.sub("", before)
        key = f"{name}_{number}"
        found.append(Named(key, number, (file, *rest), name, name != before))
    return found


def _read_moodle(parts: Parts) -> list[Named]:
    match = _MOODLE.fullmatch(parts[0])
    if match is None:
        return []
    file = match["file"]
    below = parts[1:] if len(parts) > 1 else ((file,) if file else ())
    if not below or (len(parts) > 1 and file):
        return []
    if match["plugin"] != "file":  # a text that was typed into a form, or a comment
        below = (match["plugin"], *below)
    number = match["number"] or ""  # those in no team have none
    key = f"{match['name']}_{number}" if number else match["name"]
    return [Named(key, number, below, match["name"].strip())]


def _read_exchange(parts: Parts) -> list[Named]:
    student, *rest = parts[0].split("+")
    if len(rest) < 2 or len(parts) < 2:
        return []
    try:
        when = time_of(rest[1])
    except ValueError:
        return []
    return [Named(student, student, parts[1:], when=when, lab=rest[0])]


def _read_students(parts: Parts) -> list[Named]:
    first = parts[0]
    if len(parts) > 1:
        return [Named(first, first, parts[1:])]
    stem = first[:-4]
    if first.casefold().endswith(".zip") and stem and hand_in_archive(first) is None:
        return [Named(first, stem, parts)]
    return []


def _by_name_and_number(named: Named) -> str:
    return moodle_id(named.name, named.number)


def moodle_id(name: str, number: str) -> str:
    """The id of a student of Moodle whom no roster names.

    The number is another one in each assignment; the name helps whoever looks for it. Moodle leaves
    some letters out of the names of files, so these do not count.
    """
    plain = unicodedata.normalize("NFKC", NOT_IN_FILES.sub("", name)).casefold()
    words = re.sub(r"[\W_]+", "-", plain).strip("-")
    return "-".join(filter(None, (words[:60], number)))


CANVAS = Layout("Canvas", _read_canvas, numbers=True)
MOODLE = Layout("Moodle", _read_moodle, _by_name_and_number, numbers=True)
EXCHANGE = Layout("nbgrader's exchange", _read_exchange)
STUDENTS = Layout("one folder or zip file for each student", _read_students)


def _reader(expression: str) -> Callable[[Parts], list[Named]]:
    """Reads paths that match an expression with the groups `key`, `number` and `file`.

    It may have `name`, `login` and `time`. Each part takes as little as it can: what a student has
    named comes last, so it cannot say whose it is.
    """
    compiled = re.compile(expression, re.DOTALL)

    def read(parts: Parts) -> list[Named]:
        found = compiled.fullmatch("/".join(parts))
        if found is None:
            return []
        groups = found.groupdict()
        path = tuple(part for part in (groups["file"] or "").split("/") if part)
        order = _moment(groups["time"]) if groups.get("time") else None
        name = (groups.get("name") or "").strip()
        logins = (groups["login"],) if groups.get("login") else ()
        return [Named(groups["key"], groups["number"], path, name, order=order, logins=logins)]

    return read


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME_OF_BRIGHTSPACE = (
    r"(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{1,2}|"
    r"\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*),? \d{4},? "
    r"\d{1,2}:?\d\d ?[AP]M"
)


def _moment(text: str) -> int:
    """A number that grows with the time in a name; nobody knows the zone of that time.

    `2026-01-30-15-00-00` is Blackboard's form, and `Nov 1, 2026 1234 PM` is Brightspace's.
    """
    plain = re.fullmatch(r"\d{4}(-\d\d){5}", text)
    if plain:
        return int(text.replace("-", ""))
    month = next(_MONTHS.index(each[:3].casefold()) for each in re.findall(r"[A-Za-z]{3,}", text))
    day, year, clock = re.findall(r"\d+", text.replace(":", ""))
    hour = int(clock) // 100 % 12 + (12 if text[-2] == "P" else 0)
    return int(f"{year}{month + 1:02}{int(day):02}{hour:02}{int(clock) % 100:02}00")


SAKAI = Layout(
    "Sakai",
    _reader(
        r"(?P<key>(?P<name>[^/]*?)\((?P<number>[^()/]+)\))"
        r"(?:[/_]Submission attachment\(s\)[/_](?P<file>.+)|[/_].+)"
    ),
    own=re.compile(r"grades\.(csv|xlsx?)"),
)
#: ILIAS calls its folder of all submissions, and what came late, so in English and in German.
_OF_ILIAS = {"Submissions", "Abgaben"}
_LATE_IN_ILIAS = re.compile(r"(Late Submission|Versp\w+tete Abgabe) - (?=.)")
_STUDENT_OF_ILIAS = re.compile(r"(?:Team |(?P<names>[^/]*_[^/]*)_)(?P<number>\d{1,20})", re.DOTALL)


def _read_ilias(parts: Parts) -> list[Named]:
    found = _STUDENT_OF_ILIAS.fullmatch(parts[1]) if len(parts) > 2 else None
    if found is None or parts[0] not in _OF_ILIAS:
        return []
    words = (found["names"] or "").split("_")
    logins = tuple("_".join(words[n:]) for n in range(1, len(words)))
    file = _LATE_IN_ILIAS.sub("", parts[-1])
    late = True if file != parts[-1] else None
    name = "" if found["names"] else parts[1]  # letters are lost in a student's name
    return [Named(parts[1], found["number"], (*parts[2:-1], file), name, late, logins=logins)]


ILIAS = Layout("ILIAS", _read_ilias, numbers=True, own=re.compile(r"[^/]+\.xlsx?"))
BRIGHTSPACE = Layout(
    "Brightspace",
    _reader(
        r"(?P<key>(?P<number>\d{1,20}-\d{1,20})) - (?P<name>(?P<login>[^/ ]+)[^/]*?) - "
        rf"(?P<time>{_TIME_OF_BRIGHTSPACE})(?:/| - )(?P<file>.+)"
    ),
    _by_name_and_number,
    numbers=True,
    attempts=True,
    own=re.compile(r"index\.html"),
)
_ATTEMPT = re.compile(r"_attempt_\d{4}(?:-\d\d){5}(?:_|\.txt$)")
#: Without the name of the assignment, which `_blackboard` finds.
BLACKBOARD = Layout("Blackboard", lambda parts: [])
METADATA_OF_GRADESCOPE = "submission_metadata.yml"
GRADESCOPE = Layout("Gradescope", lambda parts: [])
#: In this order a name is compared with them.
OF_PROGRAMS = (MOODLE, BRIGHTSPACE, SAKAI, ILIAS, CANVAS, EXCHANGE)


def _is_of_gradescope(parts: Parts) -> bool:
    return len(parts) > 1 and re.fullmatch(r"submission_\d{1,20}", parts[0]) is not None


def _blackboard(names: Sequence[Parts]) -> Layout:
    """The layout of Blackboard; the name of the assignment is what all its files begin with."""
    begins = {"/".join(parts)[: found.start()] for parts in names if (found := _attempt(parts))}
    first, last = min(begins), max(begins)  # what these two begin with, all begin with
    same = next(
        (n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first)
    )
    title = first[:same]
    expression = (
        rf"(?P<key>{re.escape(title[: title.rfind('_') + 1])}(?P<number>[^/]+?))"
        r"_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:\.txt|_(?P<file>.+))"
    )
    return replace(BLACKBOARD, read=_reader(expression), attempts=True)


def _attempt(parts: Parts) -> re.Match[str] | None:
    return _ATTEMPT.search(parts[0])


def gradescope(submitters: Mapping[str, Sequence[Member]]) -> Layout:
    """The layout of Gradescope's download, whose metadata says who handed in each submission."""

    def read(parts: Parts) -> list[Named]:
        members = submitters.get(parts[0], ())
        if not members or len(parts) < 2:
            return []
        first = min(members, key=lambda member: member.email)
        name = " & ".join(member.name for member in members)
        team = tuple(members) if len(members) > 1 else ()
        logins = (first.student, first.number)
        return [
            Named(
                parts[0], first.student, parts[1:], name,
                logins=logins, email=first.email, members=team,
            )
        ]  # fmt: skip

    own = re.compile(re.escape(METADATA_OF_GRADESCOPE))
    return replace(GRADESCOPE, read=read, own=own)


#: What belongs to GitHub in a repository, and the template's copy of Ticklab.
GITHUB_FOLDER = ".github"


def github(names: Sequence[Parts], lab: str) -> Layout | None:
    """The layout of a folder of clones, one for each student's repository; None if it is none.

    The assignment is called like the lab: a login may hold a `-`, so nothing else says where it
    begins.
    """
    clones = {parts[0] for parts in names if parts[1:2] == (".git",)}
    if not clones or not all(name.startswith(f"{lab}-") for name in clones):
        return None
    expression = rf"(?P<key>{re.escape(lab)}-(?P<number>[^/]+))/(?P<file>.+)"
    return Layout("clones of GitHub Classroom", _reader(expression))


#: The name of the layout that an expression of the instructor describes.
OF_PATTERN = "your pattern"
#: A repetition of a regular expression, or a part in which the same letters mean something else.
_REPETITION = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P[<=]\w+|[^)])|(?P<repetition>(?:[*+?]|\{\d*,\d*\})[?+]?)",
    re.DOTALL,
)


def by_pattern(pattern: str) -> Layout:
    """The layout of a regular expression as nbgrader's `FileNameCollectorPlugin.named_regexp`.

    It must have the groups `student_id` and `file_id`, and may have `timestamp`. It is compared
    with the path of each file: once as it is, and once with each `*` and `+` that takes as much as
    it can taking as little, and the other way round. A student chooses a part of the path, and may
    write another one's id there; then the two find two students. Raises ValueError if it is no such
    expression.
    """
    try:
        compiled = re.compile(pattern), re.compile(_turned(pattern))
    except re.error as error:
        raise ValueError(f"{pattern} is no regular expression: {error}") from error
    missing = {"student_id", "file_id"} - set(compiled[0].groupindex)
    if missing:
        raise ValueError(f"{pattern} has no group (?P<{min(missing)}>...)")

    def read(parts: Parts) -> list[Named]:
        path = "/".join(parts)
        # One that takes as little as it can would end at once if it need not reach the end.
        whole = all(each.fullmatch(path) for each in compiled)
        matches = [each.fullmatch(path) if whole else each.match(path) for each in compiled]
        found: dict[str, Named] = {}
        for match in matches:
            for each in named(match, parts):
                found.setdefault(each.number, each)
        return list(found.values())

    def named(match: re.Match[str] | None, parts: Parts) -> list[Named]:
        if match is None or not match["student_id"] or not match["file_id"]:
            return []
        groups = match.groupdict()
        path = tuple(part for part in groups["file_id"].split("/") if part)
        suffix = re.search(r"\.\w+$", parts[-1])
        if suffix and not path[-1:][0].endswith(suffix[0]):
            path = (*path[:-1], path[-1] + suffix[0])
        when = None
        if groups.get("timestamp"):
            try:
                when = time_of(_as_time(groups["timestamp"]))
            except ValueError:
                return []
        return [Named(groups["student_id"], groups["student_id"], path, when=when)]

    return Layout(OF_PATTERN, read)


def _turned(pattern: str) -> str:
    """The same expression, with every repetition that is greedy lazy, and the other way round."""
    return _REPETITION.sub(_turn, pattern)


def _turn(found: re.Match[str]) -> str:
    repeated = found["repetition"]
    if repeated is None or (len(repeated) > 1 and repeated[-1] == "+"):  # it never gives back
        return found[0]
    return repeated[:-1] if len(repeated) > 1 and repeated[-1] == "?" else f"{repeated}?"


def _as_time(text: str) -> str:
    """Blackboard writes a time as `2026-01-30-15-00-00`, which no parser of dates knows."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)-(\d\d)-(\d\d)-(\d\d)", text)
    return f"{found[1]} {found[2]}:{found[3]}:{found[4]}" if found else text


def layout_of(names: Sequence[Parts]) -> Layout:
    """Which program has named the files: the one that most of the names are like.

    Without any such name, each student has a folder or a zip file. One student cannot choose the
    layout, because the program puts its own part before the name that a student gives.
    """
    if (METADATA_OF_GRADESCOPE,) in names and any(map(_is_of_gradescope, names)):
        return GRADESCOPE
    counts = dict.fromkeys((*OF_PROGRAMS, BLACKBOARD), 0)
    for parts in names:
        for layout in OF_PROGRAMS:
            if any(named.path for named in layout.read(parts)):
                counts[layout] += 1
                break
        else:
            counts[BLACKBOARD] += _attempt(parts) is not None
    best = max(counts, key=lambda layout: counts[layout])
    if not counts[best]:
        return STUDENTS
    return _blackboard(names) if best is BLACKBOARD else best


# Which paths of files are taken from archives and folders that others have made.

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
    return "its name holds a control character" if _CONTROLS.search(part) else ""


#: Controls, ends of lines, and what turns the direction of writing. Other letters that nobody sees
#: are in honest names: blanks of macOS's screenshots, and marks within Persian and Telugu words.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


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
