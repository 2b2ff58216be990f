"""What the check says of a lab folder, for commands of `labs`, which know nothing of the grader."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from labs import paths

_LIMIT_S = 120.0


class CannotCheck(Exception):
    """The check did not run; the message says why."""


@dataclass(frozen=True)
class Checked:
    """What the check says of one figure."""

    figure: str
    outcome: str
    points: float
    max_points: float
    reason: str
    findings: tuple[str, ...]

    @property
    def handed_in(self) -> bool:
        """Whether there is a figure at all."""
        return "no-figure" not in self.findings


def check(folder: Path) -> list[Checked]:
    """The verdicts on the figures, as `grader check` prints them. Raises CannotCheck."""
    # A process of its own: `labs` can be used without the grader.
    command = paths.python_command("grader.commands.cli", "check", "--json", str(folder.absolute()))
    try:
        done = subprocess.run(
            command, cwd=paths.NEUTRAL, capture_output=True, text=True, errors="replace",
            timeout=_LIMIT_S, check=False,
        )  # fmt: skip
        stated = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise CannotCheck(f"the check took longer than {_LIMIT_S:g} s") from None
    except ValueError:
        last = done.stderr.strip().rpartition("\n")[2].removeprefix("grader check: ")
        raise CannotCheck(last or "the check printed nothing") from None
    return [
        Checked(
            each["figure"], each["outcome"], each["points"], each["max_points"],
            each["reason"], tuple(each["findings"]),
        )
        for each in stated
    ]  # fmt: skip
