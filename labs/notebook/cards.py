"""Show a machine and the measured region of a C kernel, in a notebook or as plain text."""

from __future__ import annotations

from labs.languages.words import words
from labs.machine import description

#: Each lab shows this card first. In a narrow window, JupyterLab breaks lines of plain output at
#: any character, even within numbers. With this style it breaks them at spaces if possible.
_OUTPUT_STYLE = (
    "<style>.jp-OutputArea-output.jp-RenderedText pre "
    "{word-break: normal; overflow-wrap: anywhere}</style>"
)


class MachineCard:
    """The card of this machine, with what it cannot show."""

    def __init__(self, shown: description.Machine) -> None:
        self.machine = shown

    def _repr_html_(self) -> str:
        return _OUTPUT_STYLE + self.machine._repr_html_()

    def __repr__(self) -> str:
        return self.machine.card()


class MeasuredRegion:
    """The measured lines of a C kernel; a notebook highlights them in its own theme."""

    def __init__(self, file: str, code: str) -> None:
        self.file, self.code = file, code

    def _repr_markdown_(self) -> str:
        heading = words(f"The measured region of `{self.file}`:")
        return f"{heading}\n\n```c\n{self.code}\n```"

    def __repr__(self) -> str:
        heading = words(f"The measured region of {self.file}:")
        return f"{heading}\n\n{self.code}"
