"""Sorts the files of a source by student. Two students whose ids are alike are never merged."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from grader.evening.collect.handed_in import Given
from grader.evening.collect.items import Item, NotTaken
from grader.evening.collect.naming import STUDENTS, Layout, Named, hand_in_archive, is_junk
from grader.evening.collect.paths import same_name, shown
from grader.evening.collect.readings import Place
from grader.evening.collect.roster import Roster
from grader.submissions.names import trouble_with_name
from grader.submissions.safe_copy import printable


@dataclass
class Group:
    """The files of one student: those whose names have the same key.

    Those of one time in their names were handed in together.
    """

    named: Named
    given: dict[datetime.datetime | None, list[Given]] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    student: str = ""  # the id that a roster gives
    place: Place | None = None  # where the files lie, if nobody has named the student

    @property
    def label(self) -> str:
        """The student as the source names them."""
        return printable(self.named.key)

    @property
    def shown(self) -> str:
        """The student as an instructor knows them: the id of the roster, then the label."""
        named = self.student and self.student != self.label
        return f"{printable(self.student)} ({self.label})" if named else self.label


@dataclass(frozen=True)
class NotCollected:
    """What is not collected: its name in the source, and one sentence."""

    name: str
    why: str


@dataclass
class Sorted:
    """Each student's files by the student's id, and what is nobody's or not clear.

    `seen` are the ids of all who handed in, also of those who are refused.
    """

    students: dict[str, Group]
    not_collected: list[NotCollected]
    of_other_labs: int = 0
    seen: set[str] = field(default_factory=set)


def sort(
    items: Iterable[Item],
    layout: Layout,
    lab: str,
    roster: Roster | None,
    taken: Mapping[str, str],
) -> Sorted:
    """Sorts the files by student.

    `taken` has the ids of students in the course, each with the label under which a source named
    the student when this lab was collected, or "".
    """
    result = Sorted({}, [])
    groups: dict[str, Group] = {}
    unclear: list[tuple[Item, list[Named]]] = []
    items = [item for item in items if not is_junk(item.parts)]
    result.not_collected += _empty_folders(items)
    for item in items:
        if item.is_folder:
            continue
        can_be = layout.read(item.parts)
        if not can_be:
            result.not_collected.append(NotCollected(shown(item.parts), _unknown(item, layout)))
        elif can_be[0].lab not in {"", lab}:
            result.of_other_labs += 1
        elif len(can_be) > 1:
            unclear.append((item, can_be))
        else:
            _add(groups, item, can_be[0])
    _resolve(groups, unclear, roster)
    _identify(groups.values(), layout, roster, taken, lab, result)
    return result


def _empty_folders(items: Sequence[Item]) -> list[NotCollected]:
    """The folders at the top that hold no file: a student may be missed otherwise."""
    full = {item.parts[0] for item in items if not item.is_folder}
    empty = {item.parts[0] for item in items} - full
    return [NotCollected(shown((name,)), "its folder is empty") for name in sorted(empty)]


def _unknown(item: Item, layout: Layout) -> str:
    if hand_in_archive(item.parts[-1]):
        return "its name does not say which student it is of"
    if layout is STUDENTS:
        return "it lies in no student's folder, and is no zip file"
    return f"its name is not one of {layout.name}" + (f"; {item.trouble}" if item.trouble else "")


def _add(groups: dict[str, Group], item: Item, named: Named) -> Group:
    group = groups.setdefault(named.key, Group(named))
    together = group.given.setdefault(named.when, [])
    together.append(Given(named.path, item, named.order, named.late))
    return group


def _resolve(
    groups: dict[str, Group], unclear: Sequence[tuple[Item, list[Named]]], roster: Roster | None
) -> None:
    """Adds the files whose names can mean several students.

    Canvas takes the first of them. A student whose own name ends in a number could pretend to be
    another one by this, so an id that has files under another name is no candidate.
    """
    owners: dict[str, set[str]] = defaultdict(set)
    for key, group in groups.items():
        owners[group.named.number].add(key)
    for item, can_be in unclear:
        left = [each for each in can_be if not owners[each.number] - {each.key}]
        if roster is not None:
            left = [each for each in left if each.number in roster.numbers()] or left
        chosen = (left or can_be)[0]
        others = sorted({each.number for each in left[1:]} - {chosen.number})
        group = _add(groups, item, chosen)
        if others and chosen.key not in owners[chosen.number]:
            doubt = f"{shown(item.parts)} can also be a file of {' or '.join(others)}"
            group.doubts.append(doubt)


def _identify(
    groups: Iterable[Group],
    layout: Layout,
    roster: Roster | None,
    taken: Mapping[str, str],
    lab: str,
    result: Sorted,
) -> None:
    """Gives each group the id of its student; refuses ids that are alike, and a second id."""
    alike: dict[str, list[tuple[str, Group]]] = defaultdict(list)
    for group in groups:
        try:
            student = _id(group.named, layout.id_of, roster)
        except NotTaken as error:
            result.not_collected.append(NotCollected(group.label, str(error)))
            continue
        result.seen.add(student)
        group.student = "" if roster is None else student
        alike[same_name((student,))].append((student, group))
    in_course = defaultdict(set)
    for student in taken:
        in_course[same_name((student,))].add(student)
    before = {label: student for student, label in taken.items() if label}
    for same, found in alike.items():
        student, group = found[0]
        others = sorted(in_course[same] - {student})
        if len(found) > 1:
            for student, group in found:
                names = ", ".join(sorted(each.label for _, each in found if each is not group))
                why = f"its student id {printable(student)} is also that of {names}"
                result.not_collected.append(NotCollected(group.shown, why))
        elif others and student not in in_course[same]:
            why = f"its student id is like that of {printable(others[0])}, who is in the course"
            result.not_collected.append(NotCollected(group.shown, why))
        elif student not in taken and (first := before.get(found[0][1].label)):
            result.not_collected.append(NotCollected(found[0][1].shown, _again(first, lab)))
        else:
            result.students[student] = group


def _again(first: str, lab: str) -> str:
    """Why a student is not collected under a second id: each would have a grade."""
    return (
        f"it was collected as {printable(first)} before. To collect it with other ids, first "
        f"remove {printable(f'submitted/{first}/{lab}')}; otherwise use the roster of that collect"
    )


def _id(named: Named, id_of: Callable[[Named], str], roster: Roster | None) -> str:
    """The student's id in the course. Raises NotTaken."""
    student = id_of(named) if roster is None else roster.student_of(named)
    trouble = trouble_with_name(student)
    if trouble:
        raise NotTaken(trouble)
    return student
