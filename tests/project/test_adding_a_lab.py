"""The example of docs/adding-a-lab.md, built from the page's own blocks in a copy of the source.

Whatever needs a run is for `python -m bench adding_a_lab`, which types every command of the pages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labs.course.progress import EVIDENCE
from labs.run import broken
from support import example_lab
from support.example_lab import LAB, Add, BadPage, Type, Write, all_steps, carry_out, steps
from support.paths import REPOSITORY
from support.programs import call

STEPS = all_steps()
TYPED = [step.command for step in STEPS if isinstance(step, Type)]
WRITTEN = [step for step in STEPS if not isinstance(step, Type)]
#: What a copy of the source needs; of the rest of the tree the example changes nothing.
COPIED = ("bench", "docs", "grader", "kernels_c", "labs", "notebooks", "support")
#: The commands that are typed here. Others measure, or take long, or set up the environment.
QUICK = re.compile(r"mkdir |clang-format |python -m support\.(lists|notebook_as_markdown)\b|ruff ")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source with the example in it; the quick commands are typed there too.

    One that the page types again later, such as that of the lists, is typed the last time only.
    """
    tree = tmp_path_factory.mktemp("example")
    for name in COPIED:
        # With what Python has compiled, so that no command compiles hundreds of modules again.
        shutil.copytree(REPOSITORY / name, tree / name)
    for path in (".clang-format", "README.md", "pyproject.toml"):
        shutil.copy(REPOSITORY / path, tree)
    for folder in ("tests/pitfalls", "tests/labs", "tests/course"):
        shutil.copytree(REPOSITORY / folder, tree / folder)
    (tree / "tests" / "fixtures").symlink_to(REPOSITORY / "tests" / "fixtures")
    (tree / "build").mkdir()
    # A released notebook may import what only its solution uses: that is no fault of who types.
    (tree / "build" / "released.py").write_text("import statistics\n")
    for place, step in enumerate(STEPS):
        if not isinstance(step, Type):
            carry_out(step, tree)
        elif QUICK.match(step.command) and step not in STEPS[place + 1 :]:
            done = typed(step.command, tree)
            assert done.returncode == 0, (step.command, done.stdout, done.stderr)
    return tree


def typed(command: str, tree: Path) -> subprocess.CompletedProcess[str]:
    """A command of the page, typed at the top of the copy in the environment of the tests."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(tree)}
    words = ["bash", "-c", command]
    return call(*words, cwd=tree, env=environment)


def test_the_example_is_known_to_each_list(example: Path) -> None:
    held = {
        "grader/evidence/kernel_hashes.json": '"signal_delivery": [',
        "labs/c_kernels/variants.json": '"signal_delivery": {',
        "README.md": f"| {LAB} | What does a signal cost? | Every signal that ",
        "docs/instructors/rubrics.md": "| 20 | 6 | 4 | 10 |",
        "docs/instructors/term-plan.md": f"(labs/{LAB}.md)",
    }
    lacking = [
        path for path, line in held.items() if line not in (example / path).read_text("utf-8")
    ]
    assert lacking == []


def test_the_notebook_of_the_example_has_what_a_lab_needs(example: Path) -> None:
    """The page's own command: it reads the notebook, and measures nothing."""
    (command,) = (each for each in TYPED if each.startswith("python -m pytest tests/labs "))
    done = typed(f"{command} -n 0 -p no:cacheprovider", example)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) > 15


def is_broken_c(step: Write | Add) -> bool:
    return step.path.startswith("kernels_c/broken/")


def broken_c(step: Write | Add, folder: Path) -> broken.BrokenKernel:
    """What the kit reads of the comment of a broken C kernel of the example."""
    path = folder / Path(step.path).name
    path.write_text(step.text, encoding="utf-8")
    return broken.read_from(path)


def test_the_pitfall_of_the_example_has_a_fixture_a_near_miss_and_a_broken_c_kernel(
    tmp_path: Path,
) -> None:
    (pitfall,) = (step for step in WRITTEN if step.path.startswith("grader/pitfalls/"))
    (name,) = re.findall(r"^def (\w+)\(case: Case\)", pitfall.text, re.MULTILINE)
    code = name.replace("_", "-")
    (recipes,) = (step.text for step in WRITTEN if "/recipes/" in step.path)
    assert f'@wrong("{code}")' in recipes and f'@near("{code}")' in recipes
    (step,) = filter(is_broken_c, WRITTEN)
    kernel = broken_c(step, tmp_path)
    assert f'Live("{kernel.name}", "signal-handled")' in pitfall.text
    assert len(step.text.splitlines()) <= broken.MOST_LINES
    assert f"kernels_c/{kernel.repaired}.c" in {each.path for each in WRITTEN}
    assert f"python -m grader.docs_site --record {kernel.name}" in TYPED


def test_the_number_of_the_example_is_free_and_nothing_of_it_is_in_the_tree() -> None:
    assert not list((REPOSITORY / "notebooks").glob(f"{LAB.partition('-')[0]}-*"))
    created = [step.path for step in WRITTEN if isinstance(step, Write)]
    assert len(created) > 6
    assert [path for path in created if (REPOSITORY / path).exists()] == []


def test_what_the_pages_name_is_there() -> None:
    made = {step.path for step in WRITTEN}
    for page in example_lab.PAGES:
        text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
        prose = re.sub(r"^(`{3,})\w+\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
        named = set(re.findall(r"`((?:[\w-]+/)+[\w.*-]*)`", prose)) - made
        assert len(named) > 5
        assert [path for path in sorted(named) if not (REPOSITORY / path).exists()] == []


def test_the_guide_of_the_example_shows_each_kind_of_step() -> None:
    (guide,) = (step.text for step in WRITTEN if step.path.endswith(f"hints/{LAB}.json"))
    assert {*re.findall(r'"done_by": "([a-z-]+):', guide)} == set(EVIDENCE)


@pytest.mark.parametrize(
    "page",
    [
        "Here is a file:\n\n```c\nint a;\n```\n",
        "```c\nint a;\n```\n",
        "Write `a.c`, or not:\n\n```c\nint a;\n```\n",
    ],
)
def test_a_block_that_goes_nowhere_is_a_fault_of_the_page(page: str) -> None:
    with pytest.raises(BadPage, match="where it goes"):
        list(steps(page))


def test_the_steps_of_a_page_come_in_its_order(tmp_path: Path) -> None:
    page = (
        "Write `a/b.md`:\n\n````markdown\n```python\n1\n```\n````\n\nType:\n\n    cat a/b.md\n\n"
        "In `a/b.md`, below the line `1`, add:\n\n```python\n2\n```\n"
    )
    write, cat, add = steps(page)
    assert (write, cat) == (Write("a/b.md", "```python\n1\n```\n"), Type("cat a/b.md"))
    assert isinstance(write, Write) and isinstance(add, Add)
    carry_out(write, tmp_path)
    carry_out(add, tmp_path)
    assert (tmp_path / "a/b.md").read_text() == "```python\n1\n2\n```\n"
    with pytest.raises(BadPage, match="has 0 lines '3'"):
        carry_out(Add("a/b.md", "3", "4\n"), tmp_path)
