"""A panel as its user works it: settings are changed, Run is pressed, and the run ends."""

from __future__ import annotations

import asyncio
from typing import Any

from labs.notebook.panel import Panel


def press(shown: Panel) -> None:
    """Press Run and wait for the end of the run, on a loop as a Jupyter kernel has one."""

    async def pressed() -> None:
        shown.controls.run.click()
        await shown.finished()

    asyncio.run(pressed())


def set_to(shown: Panel, **values: Any) -> None:
    """Change settings as their controls do."""
    for name, value in values.items():
        getattr(shown.controls, name).control.value = value
