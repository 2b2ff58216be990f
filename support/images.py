"""What `.devcontainer/Dockerfile` says, so that tests can compare it with other files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from support.paths import REPOSITORY

FOLDER = REPOSITORY / ".devcontainer"
DOCKERFILE = FOLDER / "Dockerfile"
DOCKER_BUILD = "docker build -f .devcontainer/Dockerfile -t ticklab ."
DOCKER_RUN = (
    "docker run --init --rm --cpuset-cpus 0,1 -p 127.0.0.1:8888:8888 "
    "-v ticklab-labs:/home/student/ticklab-labs ticklab"
)


@dataclass(frozen=True)
class Instruction:
    """One instruction of a Dockerfile, such as COPY, with the rest of its line."""

    name: str
    rest: str

    @property
    def words(self) -> list[str]:
        return self.rest.split()


def instructions(text: str) -> list[Instruction]:
    """The instructions of a Dockerfile, without comments; lines that end with a backslash joined.

    It knows no heredocs and no other escape sign.
    """
    lines = [line.strip() for line in text.splitlines()]
    kept = [line for line in lines if line and not line.startswith("#")]
    joined = "\n".join(kept).replace("\\\n", " ").splitlines()
    return [Instruction(name.upper(), rest) for name, _, rest in (x.partition(" ") for x in joined)]


def stages(found: Sequence[Instruction]) -> list[list[Instruction]]:
    """The instructions from each FROM to the next one."""
    begins = [i for i, each in enumerate(found) if each.name == "FROM"]
    ends = [*begins[1:], len(found)]
    return [list(found[begin:end]) for begin, end in zip(begins, ends, strict=True)]


def dev_container() -> Any:
    """`devcontainer.json` as plain JSON: programs that know no comments read it too."""
    return json.loads((FOLDER / "devcontainer.json").read_text(encoding="utf-8"))
