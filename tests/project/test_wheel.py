"""A wheel is all that a student needs: installed alone, used from another folder."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import TypedDict

import pytest
from packaging.requirements import Requirement

from grader.examples import SAVED
from support.paths import REPOSITORY
from support.programs import call

LABS = sorted(path.parent.name for path in REPOSITORY.glob("notebooks/*/*.ipynb"))
FRONT_ENDS = REPOSITORY / "labs" / "front_ends"
FIRST_LAB = "01-timer-overhead"
#: The one pitfall whose example is made twice.
LEFT = "lock-convoy"

# Builds, and copies all of JupyterLab.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


Command = list[str | Path]


class Options(TypedDict):
    """Where a process runs."""

    cwd: Path
    env: dict[str, str]


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Runs a command and returns what it prints; when it fails, the report shows all of that."""
    done = call(*command, cwd=cwd, env=env, timeout=900)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the source archive, built as for a release."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=REPOSITORY)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    [wheel] = dist.glob("ticklab-*.whl")
    return wheel


def test_holds_every_c_kernel(wheel: Path) -> None:
    sources = {f"labs/{p.relative_to(REPOSITORY)}" for p in REPOSITORY.glob("kernels_c/**/*.[ch]")}
    assert "labs/kernels_c/harness.h" in sources
    assert {name for name in names(wheel) if name.startswith("labs/kernels_c/")} == sources
    assert "labs/c_kernels/starter.c.txt" in names(wheel)  # which `labs new` writes


def test_holds_every_released_lab_and_no_solution(wheel: Path) -> None:
    assert FIRST_LAB in LABS
    assert {f"labs/released/{lab}/{lab}.ipynb" for lab in LABS} <= names(wheel)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith("labs/released/"):
                assert b"BEGIN SOLUTION" not in archive.read(name), name


def test_holds_plots_of_pitfalls_and_no_lab_folder_behind_them(wheel: Path) -> None:
    assert {"grader/examples/made/lock-convoy.html"} <= names(wheel)
    assert "grader/examples/made/unit-slip.html" not in names(wheel)  # a plot does not show it
    assert [name for name in names(wheel) if name.endswith(".csv") and "pitfalls" in name] == []


def test_installs_the_colours_where_every_jupyter_server_of_the_environment_looks(
    wheel: Path,
) -> None:
    data = f"{'-'.join(wheel.name.split('-')[:2])}.data/data"
    for part in (
        "share/jupyter/labextensions/ticklab-c-cells",
        "share/ticklab/vscode/ticklab-c-cells",
        "etc/jupyter/nbconfig",
    ):
        files = [path for path in (FRONT_ENDS / part).rglob("*") if path.is_file()]
        assert files
        listed = {f"{data}/{path.relative_to(FRONT_ENDS)}" for path in files}
        assert listed <= names(wheel)
    # One copy, and not a second one that nothing reads.
    assert [name for name in names(wheel) if name.startswith("labs/front_ends")] == []


def test_pip_puts_the_colours_into_the_environment(commands: Path) -> None:
    installed = commands.parent / "share/jupyter/labextensions/ticklab-c-cells/package.json"
    assert json.loads(installed.read_text(encoding="utf-8"))["name"] == "ticklab-c-cells"
    setting = "etc/jupyter/nbconfig/notebook.d/ticklab-c-cells.json"
    assert (commands.parent / setting).read_bytes() == (FRONT_ENDS / setting).read_bytes()


def test_holds_every_template(wheel: Path) -> None:
    templates = {str(p.relative_to(REPOSITORY)) for p in REPOSITORY.glob("[lg]*/**/*.html.jinja")}
    assert "labs/table.html.jinja" in templates
    assert templates <= names(wheel)


def test_holds_its_licences_and_nothing_beside_the_packages(wheel: Path) -> None:
    top = {name.split("/")[0] for name in names(wheel)}
    info = f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"
    data = info.replace(".dist-info", ".data")
    assert top == {"labs", "grader", info, data}
    texts = ("LICENSE", "LICENSES/CC-BY-4.0.txt", "LICENSES/CC0-1.0.txt")
    assert {f"{info}/licenses/{text}" for text in texts} <= names(wheel)


@pytest.fixture(scope="module")
def source_archive(dist: Path) -> Path:
    [archive] = dist.glob("ticklab-*.tar.gz")
    return archive


def stated(wheel: Path) -> list[tuple[object, ...]]:
    """The files of a wheel in their order, without the list of them, and the bytes of each."""
    with zipfile.ZipFile(wheel) as archive:
        return [
            (each.filename, each.CRC, each.date_time, each.external_attr, each.compress_size)
            for each in archive.infolist()
            if not each.filename.endswith("/RECORD")
        ]


def contents(folder: Path) -> dict[Path, bytes]:
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_source_archive_builds_the_same_wheel(
    wheel: Path, source_archive: Path, tmp_path: Path
) -> None:
    shutil.unpack_archive(source_archive, tmp_path)
    [source] = tmp_path.glob("ticklab-*/")
    saved = source / SAVED.relative_to(REPOSITORY)
    # The wheel's examples are made from these. To make all of them again takes as long as all else.
    assert contents(saved) == contents(SAVED)
    for pitfall in saved.iterdir():
        if pitfall.name != LEFT:
            shutil.rmtree(pitfall)
    without_download = ["--no-deps", "--no-index", "--no-build-isolation"]
    run(sys.executable, "-m", "pip", "wheel", *without_download, "-w", tmp_path / "wheel", source)
    [built] = (tmp_path / "wheel").glob("ticklab-*.whl")
    # Byte for byte, whenever and wherever it is built: so anybody can check a published wheel.
    left_out = names(wheel) - names(built)
    made = {name for name in names(wheel) if name.startswith("grader/examples/made/")}
    assert left_out == made - {f"grader/examples/made/{LEFT}.html"} < made
    assert [each for each in stated(wheel) if each[0] not in left_out] == stated(built)


def locked() -> Iterator[Distribution]:
    """What requirements.lock names for this machine, as it is installed here."""
    text = (REPOSITORY / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line and not line.lstrip().startswith("#"):
            pin = Requirement(line.split("--hash")[0])
            if pin.marker is None or pin.marker.evaluate():
                yield distribution(pin.name)


def copy_into(venv: Path, installed: Distribution) -> None:
    """The same in another environment: its files, with commands that start that one's Python."""
    here = Path(sys.prefix)
    for listed in installed.files or ():
        source = Path(os.path.normpath(str(installed.locate_file(listed))))
        target = venv / source.relative_to(here)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.parent == venv / "bin":
            script = source.read_bytes().replace(bytes(here / "bin"), bytes(venv / "bin"), 1)
            target.write_bytes(script)
            target.chmod(0o755)
            continue
        link(source, target)
        if source.suffix == ".py":
            # Where pip has not compiled it, it does not list this. It may have gone.
            compiled = Path("__pycache__", f"{source.stem}.{sys.implementation.cache_tag}.pyc")
            link(source.parent / compiled, target.parent / compiled)


def link(source: Path, target: Path) -> None:
    """A second name for a file that nobody will write to; on another file system a copy of it."""
    if not source.exists() or target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture(scope="module")
def commands(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of a new environment with the wheel and what the lock names.

    That pip installs the lock, `make` has shown before any test: we copy what it has installed.
    """
    venv = tmp_path_factory.mktemp("student") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv)
    for installed in locked():
        copy_into(venv, installed)
    pip: Command = [sys.executable, "-m", "pip", "--python", venv / "bin" / "python", "install"]
    run(*pip, "--quiet", "--no-compile", "--no-deps", "--no-index", wheel)
    return venv / "bin"


@pytest.fixture
def elsewhere(commands: Path, tmp_path: Path) -> Options:
    """Options for a process in a folder of its own, which finds nothing of this repository."""
    ours = ("PYTHON", "JUPYTER", "IPYTHON", "VIRTUAL_ENV", "TICKLAB", "XDG_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    env |= {"HOME": str(tmp_path), "PATH": f"{commands}:{env['PATH']}"}
    return {"cwd": tmp_path, "env": env}


def test_measures_from_another_folder(commands: Path, elsewhere: Options) -> None:
    measure: Command = [commands / "labs", "measure", "timer_overhead", "--variant", "fenced"]
    result = json.loads(run(*measure, "--samples", "500", "--json", **elsewhere))
    assert (result["kernel"], result["variant"]) == ("timer_overhead", "fenced")
    low, high = result["interval"]
    assert low <= result["value"] <= high


@contextmanager
def serving(command: Command, options: Options) -> Iterator[str]:
    """The address of the JupyterLab that a command opens; ended afterwards."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        **options,
    )
    assert process.stdout is not None
    printed = ""
    try:
        for line in process.stdout:
            printed += line
            if address := re.search(r"http://\S+", line):
                yield address[0]
                break
        else:
            pytest.fail(f"no address was printed:\n{printed}")
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.communicate(timeout=20)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def test_starts_and_runs_the_first_lab_in_another_folder(
    commands: Path, elsewhere: Options, tmp_path: Path
) -> None:
    mine = tmp_path / "my labs"
    start: Command = [commands / "labs", "start", mine, "--no-browser"]
    with serving(start, elsewhere) as address, urllib.request.urlopen(address, timeout=30) as page:
        assert "JupyterLab" in page.read().decode()
    assert {path.parent.name for path in mine.glob("*/*.ipynb")} == set(LABS)

    lab = mine / FIRST_LAB
    notebook, done = lab / f"{FIRST_LAB}.ipynb", tmp_path / "done.ipynb"
    # The first decision, as a student would make it; the others stay open.
    text = notebook.read_text(encoding="utf-8")
    decided = text.replace(
        '\\"timer_overhead\\", ..., save=\\"naive\\"',
        '\\"timer_overhead\\", \\"fenced\\", save=\\"naive\\"',
    )
    assert decided != text
    notebook.write_text(decided, encoding="utf-8")
    run(commands / "jupyter", "execute", notebook, f"--output={done}", **elsewhere)
    cells = json.loads(done.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert outputs
    assert [output for output in outputs if output["output_type"] == "error"] == []
    assert (lab / "recordings" / "naive.csv").is_file()


def test_an_instructor_grades_a_class_with_nothing_but_the_wheel(
    commands: Path, elsewhere: Options, tmp_path: Path
) -> None:
    printed = run(commands / "grader", "course", "my-course", "--demo", **elsewhere)
    assert "without solutions" in printed and f"grader autograde {FIRST_LAB}" in printed
    course = tmp_path / "my-course"
    released = Path("labs", "released", FIRST_LAB, f"{FIRST_LAB}.ipynb")
    [installed] = commands.parent.glob(f"lib/python*/site-packages/{released}")
    generated = course / "release" / FIRST_LAB / f"{FIRST_LAB}.ipynb"
    assert generated.read_bytes() == installed.read_bytes()

    here: Options = {**elsewhere, "cwd": course}
    autograde: Command = [commands / "nbgrader", "autograde", FIRST_LAB]
    run(*autograde, "--student=honest", **here)
    graded = course / "autograded" / "honest" / FIRST_LAB / f"{FIRST_LAB}.ipynb"
    cells = json.loads(graded.read_text(encoding="utf-8"))["cells"]
    verdicts = [cell["metadata"]["ticklab"] for cell in cells if "ticklab" in cell["metadata"]]
    points = {verdict["figure"]: verdict["points"] for verdict in verdicts}
    assert points["timer-step"] == 2.0 and points["timer-own-addition"] == 0.0


def test_the_source_archive_gives_an_installed_grader_the_solutions(
    commands: Path, elsewhere: Options, source_archive: Path, tmp_path: Path
) -> None:
    course: Command = [commands / "grader", "course", "solved", "--labs", source_archive]
    assert "with their solutions" in run(*course, **elsewhere)
    for lab in LABS:
        source = REPOSITORY / "notebooks" / lab / f"{lab}.ipynb"
        assert (tmp_path / "solved/source" / lab / source.name).read_bytes() == source.read_bytes()
