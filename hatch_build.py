"""Adds to the wheel what lies outside the packages: C kernels, notebooks, plots of pitfalls,
and the versions of what Ticklab needs."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TicklabBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # works on the repository itself, where both are at hand

        root = Path(self.root)
        include = build_data["force_include"]
        for source in (root / "kernels_c").rglob("*.[ch]"):
            include[str(source)] = f"labs/{source.relative_to(root).as_posix()}"

        # `grader gradescope` hands it on.
        include[str(root / "requirements.lock")] = "grader/requirements.lock"

        # A process of its own, so that nbgrader's settings and logs stay out of the build.
        self.scratch = tempfile.TemporaryDirectory()
        released = f"{self.scratch.name}/released"
        subprocess.run(
            [sys.executable, "-m", "grader.with_nbgrader.release", "notebooks", released],
            cwd=root,
            check=True,
        )
        include[released] = "labs/released"
        # Plots of the pitfalls, and not the lab folders behind them, which hold solutions.
        examples = f"{self.scratch.name}/examples"
        made = f"import pathlib, grader.examples as made; made.write(pathlib.Path({examples!r}))"
        subprocess.run([sys.executable, "-c", made], cwd=root, check=True)
        include[examples] = "grader/examples/made"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.scratch.cleanup()
