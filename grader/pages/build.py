"""Build the page of every lab, and the one that lists them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from grader.pages.page import Lab, index_page, lab_page
from grader.pages.rerun import rerun
from labs.common.files import write_atomically

_REPOSITORY = Path(__file__).parent.parent.parent
NOTEBOOKS = _REPOSITORY / "notebooks"
#: The files of an honest student's run of each lab; the tests of grading use them too.
HONEST = _REPOSITORY / "tests" / "fixtures" / "honest"


def build(
    released: Path,
    destination: Path,
    *,
    notebooks: Path = NOTEBOOKS,
    saved: Path = HONEST,
    only: Iterable[str] = (),
) -> list[str]:
    """Write the pages of the labs under `released` to `destination`; return what they lack.

    `notebooks` holds the author's notebooks, `saved` one folder of recordings for each lab. `only`
    names the labs whose pages to write (empty: all). Raises OSError, and RuntimeError if no Jupyter
    kernel starts.
    """
    labs = [
        Lab(folder.name, json.loads((folder / f"{folder.name}.ipynb").read_text(encoding="utf-8")))
        for folder in sorted(released.iterdir())
        if (folder / f"{folder.name}.ipynb").is_file()
    ]
    wanted = set(only) or {lab.name for lab in labs}
    chosen = [lab for lab in labs if lab.name in wanted]
    with ThreadPoolExecutor(max_workers=2) as pool:
        runs = pool.map(lambda lab: rerun(notebooks / lab.name, saved / lab.name), chosen)
        done = dict(zip((lab.name for lab in chosen), runs, strict=True))
    destination.mkdir(parents=True, exist_ok=True)
    troubles = []
    for number, lab in enumerate(labs):
        if lab.name not in done:
            continue
        before = labs[number - 1] if number else None
        after = labs[number + 1] if number + 1 < len(labs) else None
        page = lab_page(lab, done[lab.name], before, after)
        write_atomically(destination / lab.page, page.encode())
        troubles += [f"{lab.name}, {cell}: {why}" for cell, why in done[lab.name].troubles.items()]
    write_atomically(destination / "index.html", index_page(labs).encode())
    return troubles
