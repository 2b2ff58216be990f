"""Enters computed results: register of runs, gradebook, and the folders in their places.

The order makes an interruption harmless. The register is asked once for each result, and its answer
is in the result file before the register itself is changed. The gradebook comes next. The folder of
a student appears last, so whoever has one is done. Whatever is done twice gives the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.evening.compute import read_notebook, result_path, texts_of, write_notebook
from grader.evening.graded import Plan, Result, write_result
from grader.evening.summary import Summary
from grader.evening.write import Writer
from grader.judging.judgement import verdict_from
from grader.with_nbgrader.class_flags.evidence_register import REGISTER, Entries, EvidenceRegister
from grader.with_nbgrader.class_flags.flags_of_class import same_run_as
from grader.with_nbgrader.gradebook_lock import raise_if_no_room
from grader.with_nbgrader.staged import remove_empty_above, remove_left
from grader.with_nbgrader.verdict_cells import IN_ANOTHER, write_flags


class Entering:
    """What enters results; `converter` is nbgrader's autograding, which knows the folders."""

    def __init__(self, plan: Plan, writer: Writer, converter: Any) -> None:
        self._plan = plan
        self._writer = writer
        self._converter = converter
        self._register = EvidenceRegister(Path(converter.coursedir.root) / REGISTER)

    def enter(self, results: Sequence[Result], summary: Summary) -> None:
        """Enters some results, in the order of `results`, and counts them.

        Raises OSError, and what SQLAlchemy raises. Then all of them can be entered again.
        """
        if not results:
            return
        self._ask_register(results)
        failed = self._writer.write(results)
        for result in results:
            unfinished = self._unfinished(result)
            if result.student in failed:
                summary.failed[result.student] = failed[result.student]
            else:
                self._converter.put_in_place(self._plan.lab, result.student)
                summary.add(result)
            remove_left(unfinished)
            remove_empty_above(unfinished)

    def _ask_register(self, results: Sequence[Result]) -> None:
        """Flags the runs that other submissions hold too."""
        try:
            with self._register.opened() as entries:
                for result in results:
                    self._ask(entries, result)
        except sqlite3.Error as error:
            raise_if_no_room(error)
            self._converter.log.warning(
                "The search for copies failed: %s: %s", self._register.path, error
            )

    def _ask(self, entries: Entries, result: Result) -> None:
        found = {
            notebook: entries.enter(result.student, self._plan.lab, runs)
            for notebook, runs in result.runs.items()
        }
        if result.copied is not None:  # by a run that was ended; the class has changed since
            return
        result.copied = {notebook: copies for notebook, copies in found.items() if copies}
        for notebook, copies in result.copied.items():
            for line in same_run_as(result.student, copies):
                self._converter.log.warning("%s", line)
            self._flag(result, notebook, copies)
        write_result(result_path(self._unfinished(result)), result)

    def _flag(self, result: Result, notebook: str, copies: dict[str, list[str]]) -> None:
        path = self._unfinished(result) / f"{notebook}.ipynb"
        node = read_notebook(path)
        verdicts = {name: verdict_from(each) for name, each in result.verdicts[notebook].items()}
        raised = {
            figure: [IN_ANOTHER, *result.accounts.get(notebook, {}).get(figure, [])]
            for figure in copies
            # The cell of a verdict that was replaced has nothing to flag.
            if figure in verdicts and verdicts[figure].fingerprints
        }
        write_flags(node, verdicts, raised, self._plan.presenter, self._converter.log)
        new = path.with_name(f".{path.name}.new")
        write_notebook(new, node, texts_of(self._plan.notebooks[notebook]))
        new.chmod(path.stat().st_mode)
        new.replace(path)

    def _unfinished(self, result: Result) -> Path:
        folder: Path = self._converter.unfinished_folder(self._plan.lab, result.student)
        return folder
