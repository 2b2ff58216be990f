"""What CONTRIBUTING.md says of the folders is so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp  # import-linter brings it
import pytest

from support.paths import REPOSITORY

PAGE = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGES = ("labs", "grader")

#: The calls that start a process, by the end of their name.
STARTS = re.compile(
    r"\b(subprocess\.(run|Popen|call|check_\w+|get\w*output)"
    r"|os\.(system|popen|exec\w+|spawn\w+|posix_spawnp?|fork|forkpty)|pty\.\w+"
    r"|create_subprocess_\w+|ProcessPoolExecutor|multiprocessing\.\w+)$"
)
#: A module of tests that is imported, also among others.
IMPORTED_TEST = re.compile(
    r"^ *(?:from|import)(?: [\w.]+,)* ((?:tests\b|test_|conftest\b)[\w.]*)", re.M
)
#: Where Python is started: for all others; isolated; in the sandbox.
STARTING_PYTHON = {
    "labs/paths.py",
    "labs/machine/fitness.py",
    "grader/sandbox/provisioner.py",
}


def modules(package: str) -> list[Path]:
    return sorted(path for path in (REPOSITORY / package).rglob("*.py"))


def test_every_package_says_what_it_is_for() -> None:
    """CONTRIBUTING.md sends the reader there; import-linter asks that its layers list them all."""
    for package in PACKAGES:
        for init in sorted((REPOSITORY / package).glob("**/__init__.py")):
            said = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) or ""
            assert len(said.split()) > 5, init


def test_every_file_that_the_page_names_is_there() -> None:
    named = re.findall(r"`((?:labs|grader|kernels_c|tests|docs|bench)/[\w./-]+)`", PAGE)
    assert len(named) > 10
    examples = re.compile(r"\byour|\bNN-")
    named = [name for name in named if not examples.search(name)]
    assert [name for name in named if not (REPOSITORY / name).exists()] == []


def numbers(path: Path) -> Iterator[tuple[str, float]]:
    """The public numbers that a module names at its top, such as `EARLY = 0.6`."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.Assign):
            continue
        (target,) = node.targets
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        for name, value in pairs:
            number = value.value if isinstance(value, ast.Constant) else None
            named = name.id if isinstance(name, ast.Name) else "_"
            if named[0].isupper() and type(number) in (int, float):
                yield named, number  # type: ignore[misc]


def test_a_threshold_of_one_name_has_one_value() -> None:
    """Else a warning and a grade that seem to follow one rule do not."""
    rooms = ["labs/analysis", "labs/results", "labs/recording", "labs/views", "labs/survey"]
    rooms += [
        "labs/course",
        "grader/figures",
        "grader/evidence",
        "grader/judging",
        "grader/pitfalls",
    ]
    found: dict[str, set[float]] = {}
    for room in rooms:
        for path in modules(room):
            for name, value in numbers(path):
                found.setdefault(name, set()).add(value)
    assert len(found) > 100
    assert {name: values for name, values in found.items() if len(values) > 1} == {}


def test_nothing_imports_a_test() -> None:
    """What several modules need lies in support/."""
    found = [
        (str(path.relative_to(REPOSITORY)), name)
        for package in (*PACKAGES, "bench", "support", "tests")
        for path in modules(package)
        for name in IMPORTED_TEST.findall(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_no_two_modules_of_tests_have_the_same_name() -> None:
    """tests/conftest.py names them without their folder."""
    names = [path.name for path in modules("tests") if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))


def test_no_two_modules_of_the_program_have_the_same_name() -> None:
    """Only a command may share its name with what it carries out."""
    names = [
        path.name
        for package in PACKAGES
        for path in modules(package)
        if path.parent.name != "commands" and not path.name.startswith("__")
    ]
    assert sorted(names) == sorted(set(names))


def starting(text: str) -> list[str]:
    """The calls in a module's text that start a process, and what it takes for that by name."""
    tree = ast.parse(text)
    called = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    taken = [
        f"{node.module}.{name.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    ]
    return [each for each in (*called, *taken) if STARTS.search(each)]


@pytest.mark.slow
def test_processes_are_started_in_one_module() -> None:
    """Else one runs what lies in the current folder, which may be a student's."""
    found = {
        str(path.relative_to(REPOSITORY)): calls
        for package in PACKAGES
        for path in modules(package)
        if (calls := starting(path.read_text(encoding="utf-8")))
    }
    assert found == {"labs/paths.py": ["subprocess.Popen"]}


def test_another_start_is_found() -> None:
    for text in (
        "import subprocess\nsubprocess.run(['gcc'])",
        "import os\nos.system('gcc')",
        "from subprocess import check_output",
        "import asyncio\nasyncio.create_subprocess_exec('gcc')",
        "import concurrent.futures\nconcurrent.futures.ProcessPoolExecutor()",
    ):
        assert starting(text)


def test_python_is_started_by_one_function() -> None:
    """Else it runs modules in the current folder, which may be a student's."""
    starts = re.compile(r"[\[(]\s*sys\.executable,")
    found = {
        str(path.relative_to(REPOSITORY))
        for package in PACKAGES
        for path in modules(package)
        if starts.search(path.read_text(encoding="utf-8"))
    }
    assert found == STARTING_PYTHON


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports inside functions and those for types count as well."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")
