"""The version of the kit.

To release one: `make lock test`, and `make bench` on a quiet machine. Set the version here and in
CITATION.cff, and the date in CHANGELOG.md. Run every lab in JupyterLab from a new copy. With
`nbclassic`, run `python -m bench front_ends --save DIR`, and write the versions into
docs/students/where-it-runs.md. `python -m hatchling build` writes `dist`. In an empty environment:
`pip install dist/*.whl`, `labs doctor`, `labs start`, and `grader course demo --demo` with the
commands that it prints. Tag the commit, and publish both files and their hashes.
"""

from __future__ import annotations

__version__ = "0.1.0"
