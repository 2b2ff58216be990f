"""`labs start`: a student's copy that loses nothing, and a JupyterLab that serves it and ends."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psutil
import pytest

from labs import files, paths
from labs.commands import start as serve
from labs.commands.start import MANIFEST, CannotUpdateCopy, update_copy
from support.notebook_as_markdown import of_code
from support.paths import REPOSITORY

NAME = "01-timer-overhead/01-timer-overhead.ipynb"
NEWER = "01-timer-overhead/01-timer-overhead.new.ipynb"
# The command itself, with other released labs than those of this checkout.
PROGRAM = """
import sys
from pathlib import Path
from labs.commands import cli
from labs import paths
paths.released = lambda: Path(sys.argv[1])
sys.exit(cli.main(["start", *sys.argv[2:]]))
"""


def notebook(source: str) -> str:
    return json.dumps(of_code(source))


@pytest.fixture
def released(tmp_path: Path) -> Path:
    folder = tmp_path / "released"
    for name, text in {
        "00-start-here/00-start-here.ipynb": notebook("1 + 1"),
        NAME: notebook("version = 1"),
        "01-timer-overhead/data.csv": "a,b\n",
        "01-timer-overhead/.hidden": "",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def copy(tmp_path: Path, released: Path) -> Path:
    folder = tmp_path / "my labs, ü"
    update_copy(released, folder)
    return folder


def tree(folder: Path) -> dict[str, str]:
    return {
        file.relative_to(folder).as_posix(): file.read_text()
        for file in folder.rglob("*")
        if file.is_file() and file.name != MANIFEST
    }


def test_a_first_copy_is_whole(released: Path, copy: Path) -> None:
    expected = tree(released)
    del expected["01-timer-overhead/.hidden"]
    assert tree(copy) == expected


def test_the_same_again_changes_nothing(released: Path, copy: Path) -> None:
    before = {file: file.stat().st_mtime_ns for file in copy.rglob("*")}
    assert update_copy(released, copy) == serve.CopyChanges()
    assert {file: file.stat().st_mtime_ns for file in copy.rglob("*")} == before


def test_an_unchanged_file_is_updated_and_a_deleted_one_comes_back(
    released: Path, copy: Path
) -> None:
    (released / NAME).write_text(notebook("version = 2"))
    (copy / "01-timer-overhead/data.csv").unlink()
    done = update_copy(released, copy)
    assert done.updated == [NAME]
    assert done.added == ["01-timer-overhead/data.csv"]
    assert done.newer == []
    assert "version = 2" in (copy / NAME).read_text()


def test_a_changed_file_is_kept_and_the_newer_one_named_once(released: Path, copy: Path) -> None:
    (copy / NAME).write_text("mine")
    assert update_copy(released, copy).newer == []  # nothing newer to offer
    (released / NAME).write_text("version 2")
    assert update_copy(released, copy).newer == [(NAME, NEWER)]
    assert update_copy(released, copy) == serve.CopyChanges()
    assert tree(copy)[NAME] == "mine"
    assert tree(copy)[NEWER] == "version 2"

    (released / NAME).write_text("version 3")  # takes the place of the one nobody has changed
    assert update_copy(released, copy).newer == [(NAME, NEWER)]
    assert tree(copy)[NEWER] == "version 3"
    assert len(tree(copy)) == 4

    (copy / NEWER).unlink()  # seen, and not wanted
    assert update_copy(released, copy) == serve.CopyChanges()
    assert not (copy / NEWER).exists()


def test_a_changed_newer_version_is_kept_too(released: Path, copy: Path) -> None:
    (copy / NAME).write_text("mine")
    (released / NAME).write_text("version 2")
    update_copy(released, copy)
    (copy / NEWER).write_text("mine as well")
    (released / NAME).write_text("version 3")
    second = NEWER.replace(".new.", ".new-2.")
    assert update_copy(released, copy).newer == [(NAME, second)]
    assert [tree(copy)[name] for name in (NAME, NEWER, second)] == [
        "mine",
        "mine as well",
        "version 3",
    ]


def test_a_newer_version_that_was_taken_over_is_updated_again(released: Path, copy: Path) -> None:
    (copy / NAME).write_text("mine")
    (released / NAME).write_text("version 2")
    update_copy(released, copy)
    (copy / NEWER).replace(copy / NAME)
    (released / NAME).write_text("version 3")
    assert update_copy(released, copy).updated == [NAME]


def test_what_a_student_makes_is_never_touched(released: Path, copy: Path) -> None:
    own = copy / "01-timer-overhead"
    (own / "recordings").mkdir()
    (own / "recordings/a.csv").write_text("evidence")
    (own / "figures.json").write_text("{}")
    (released / NAME).write_text("version 2")
    update_copy(released, copy)
    assert (own / "recordings/a.csv").read_text() == "evidence"
    assert (own / "figures.json").read_text() == "{}"


@pytest.mark.parametrize(
    "manifest",
    ["", "{", "[]", '{"files": []}', '{"files": {"a": 1}}', "[" * 100_000, '{"files": null}', "\0"],
)
def test_a_broken_manifest_loses_nothing(released: Path, copy: Path, manifest: str) -> None:
    (copy / NAME).write_text("mine")
    (copy / MANIFEST).write_text(manifest)
    (released / NAME).write_text("version 2")
    done = update_copy(released, copy)
    assert done.manifest_lost
    assert done.newer == [(NAME, NEWER)]
    assert tree(copy)[NAME] == "mine"
    assert not update_copy(released, copy).manifest_lost


def test_without_a_manifest_what_differs_is_the_students(released: Path, copy: Path) -> None:
    (copy / MANIFEST).unlink()
    (released / NAME).write_text("version 2")
    done = update_copy(released, copy)
    assert not done.manifest_lost
    assert done.newer == [(NAME, NEWER)]


def test_a_link_stays_a_link_and_its_target_as_it_was(
    tmp_path: Path, released: Path, copy: Path
) -> None:
    elsewhere = tmp_path / "elsewhere.ipynb"
    (copy / NAME).replace(elsewhere)
    (copy / NAME).symlink_to(elsewhere)
    before = elsewhere.read_text()
    (released / NAME).write_text("version 2")
    update_copy(released, copy)
    assert (copy / NAME).is_symlink()
    assert elsewhere.read_text() == before
    assert tree(copy)[NEWER] == "version 2"
    elsewhere.unlink()  # now it leads nowhere
    (released / NAME).write_text("version 3")
    update_copy(released, copy)
    assert (copy / NAME).is_symlink()


def test_a_folder_or_fifo_in_a_files_place_is_left_there(released: Path, copy: Path) -> None:
    (copy / NAME).unlink()
    (copy / NAME).mkdir()
    data = copy / "01-timer-overhead/data.csv"
    data.unlink()
    os.mkfifo(data)
    done = update_copy(released, copy)
    assert (copy / NAME).is_dir()
    assert data.is_fifo()
    assert done.added == []


def test_a_file_where_a_folder_should_be(tmp_path: Path, released: Path) -> None:
    folder = tmp_path / "labs"
    folder.write_text("important")
    for place in (folder, folder / "inside"):
        with pytest.raises(CannotUpdateCopy, match="labs start DIR"):
            update_copy(released, place)
    assert folder.read_text() == "important"


def test_a_lab_folder_that_is_a_file(released: Path, tmp_path: Path) -> None:
    folder = tmp_path / "labs"
    folder.mkdir()
    (folder / "01-timer-overhead").write_text("important")
    with pytest.raises(CannotUpdateCopy, match="Nothing there was lost"):
        update_copy(released, folder)
    assert (folder / "01-timer-overhead").read_text() == "important"


def test_a_disk_that_fills_up_in_the_middle(
    released: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (copy / NAME).write_text("mine")
    for name in tree(released):
        (released / name).write_text("version 2")
    write = files.write_atomically
    written: list[Path] = []

    def write_two(path: Path, content: bytes) -> None:
        if len(written) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        written.append(path)
        write(path, content)

    monkeypatch.setattr(serve, "write_atomically", write_two)
    with pytest.raises(CannotUpdateCopy, match="No space left on device"):
        update_copy(released, copy)
    monkeypatch.undo()
    assert tree(copy)[NAME] == "mine"
    assert update_copy(released, copy).updated == ["01-timer-overhead/data.csv"]
    assert tree(copy)[NAME] == "mine"


def test_a_read_only_folder(tmp_path: Path, released: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write everywhere")
    with pytest.raises(CannotUpdateCopy, match="Permission denied"):
        update_copy(released, folder)


def command(released: Path, *words: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, str(released), *words]


def environment(tmp_path: Path) -> dict[str, str]:
    """A student's: an empty home, and the Python environment not on PATH."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return {
        **kept,
        "HOME": str(home),
        "XDG_DATA_HOME": "",
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(REPOSITORY),
    }


def start(
    tmp_path: Path, released: Path, *words: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(released, *words),
        cwd=cwd or tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_copy_that_others_can_read_is_told(tmp_path: Path, released: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o755)
    done = start(tmp_path, released, str(tmp_path / "shared"), "--no-lab")
    assert (
        f"Other users of this machine can read it. To prevent that: chmod 700 {tmp_path}"
        in done.stderr
    )
    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o755


def test_only_the_copy_in_the_default_folder(tmp_path: Path, released: Path) -> None:
    done = start(tmp_path, released, "--no-lab")
    home = tmp_path / "home" / "ticklab-labs"
    assert done.returncode == 0
    assert done.stdout == ""
    assert f"Put 3 files in {home}. Only you can read it." in done.stderr
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    (home / NAME).write_text("mine")
    (released / NAME).write_text("version 2")
    again = start(tmp_path, released, "--no-lab", cwd=home)  # this folder is a copy
    assert f"Kept your {home / NAME}; the newer version is in the same folder" in again.stderr
    assert Path(NEWER).name in again.stderr


def test_a_folder_that_is_a_file_ends_with_one_line(tmp_path: Path, released: Path) -> None:
    (tmp_path / "labs").write_text("")
    done = start(tmp_path, released, "labs", "--no-lab")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_no_released_labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.setattr(paths, "_PACKAGE", tmp_path / "labs")
    monkeypatch.setattr(paths, "_CHECKOUT", tmp_path)
    with pytest.raises(paths.PartMissing, match="make lab"):
        paths.released()
    with pytest.raises(paths.PartMissing, match="git checkout"):
        paths.kernels_c()
    (tmp_path / "labs/released/00-start-here").mkdir(parents=True)
    assert paths.released() == tmp_path / "labs/released"


@pytest.mark.parametrize("port", ["0", "65536", "x", "-1"])
def test_an_impossible_port(tmp_path: Path, released: Path, port: str) -> None:
    done = start(tmp_path, released, f"--port={port}")
    assert done.returncode == 2
    assert "from 1 to 65535" in done.stderr


def test_a_port_that_is_taken(tmp_path: Path, released: Path) -> None:
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
        done = start(tmp_path, released, "--no-browser", f"--port={port}")
    assert done.returncode == 1
    assert f"port {port}" in done.stderr
    assert "labs start --port N" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_home_that_cannot_be_written(tmp_path: Path, released: Path) -> None:
    (tmp_path / "home").write_text("a file, which stops root as well")
    done = subprocess.run(
        command(released, str(tmp_path / "labs"), "--no-browser"),
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "JUPYTER_DATA_DIR" in done.stderr
    assert "Traceback" not in done.stderr


@dataclass
class Server:
    process: subprocess.Popen[str]
    address: str
    seconds: float

    @property
    def base(self) -> str:
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.address).query)["token"][0]

    def ask(self, path: str, body: object = None) -> Any:
        request = urllib.request.Request(
            self.base + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)


@pytest.fixture
def server(tmp_path: Path, released: Path) -> Iterator[Server]:
    begin = time.monotonic()
    with subprocess.Popen(
        command(released, "copy", "--no-browser"),
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "stderr").open("w"),
        text=True,
    ) as process:
        assert process.stdout is not None
        # Another extension of the server, such as nbclassic, may greet first.
        address = next((line for line in process.stdout if "token=" in line), "")
        assert address.endswith("\n"), (tmp_path / "stderr").read_text()
        try:
            yield Server(process, address.strip(), time.monotonic() - begin)
        finally:
            if process.poll() is None:
                process.kill()


async def execute(server: Server, jupyter_kernel: str, code: str) -> str:
    """What the code prints in that Jupyter kernel, as a browser would run it."""
    from tornado.websocket import websocket_connect

    address = server.base.replace("http", "ws", 1) + f"/api/kernels/{jupyter_kernel}/channels"
    socket = await websocket_connect(f"{address}?token={server.token}")
    header = {"msg_id": "1", "msg_type": "execute_request", "username": "", "session": "s"}
    header |= {"date": "2000-01-01T00:00:00Z", "version": "5.3"}
    content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False}
    message = {"header": header, "parent_header": {}, "metadata": {}, "channel": "shell"}
    await socket.write_message(json.dumps({**message, "content": content, "buffers": []}))
    printed = ""
    while True:
        read = await asyncio.wait_for(socket.read_message(), 30)
        assert isinstance(read, str)
        answer = json.loads(read)
        if answer["parent_header"].get("msg_id") != "1":
            continue
        if answer["msg_type"] in ("stream", "error"):
            printed += answer["content"].get("text") or str(answer["content"])
        if answer["content"].get("execution_state") == "idle":
            socket.close()
            return printed


def alive(process: psutil.Process) -> bool:
    """Whether it still runs; one that has ended and waits to be reaped by init does not."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def must_end_with_all(server: Server, tmp_path: Path, number: signal.Signals) -> None:
    """A signal ends the server, the Jupyter kernel that runs, and a terminal."""
    server.ask("/api/terminals", {})
    children = psutil.Process(server.process.pid).children(recursive=True)
    assert len(children) >= 2
    server.process.send_signal(number)
    server.process.send_signal(number)  # as make and a terminal both do
    assert server.process.wait(120) == 0
    # A terminal's shell ends when the OS tells it that the terminal is gone, which takes a moment.
    _, left = psutil.wait_procs(children, timeout=60)
    assert not [child for child in left if alive(child)]
    shown_text = (tmp_path / "stderr").read_text()
    assert "Traceback" not in shown_text
    runtime = tmp_path / "home/.local/share/jupyter/runtime"
    assert not list(runtime.glob("jpserver-*.json"))


def test_it_serves_what_students_need_and_nothing_else(server: Server, tmp_path: Path) -> None:
    path = urlsplit(server.address).path
    own, _, opened = path.removeprefix("/lab/workspaces/").partition("/tree/")
    assert opened == "00-start-here/00-start-here.ipynb"
    # What another copy of the labs has open is another workspace's.
    assert own and own != serve.workspace_of(tmp_path / "another copy")
    with urllib.request.urlopen(server.address, timeout=20) as page:
        assert page.status == 200
        text = page.read().decode()
    config = json.loads(
        text.split('id="jupyter-config-data" type="application/json">')[1].split("</script>")[0]
    )
    assert config["news"] == {"disabled": True}
    assert "@jupyter/nbgrader" in config["disabledExtensions"]
    assert any("widgets" in found["name"] for found in config["federated_extensions"])
    names = {entry["name"] for entry in server.ask("/api/contents")["content"]}
    assert names == {"00-start-here", "01-timer-overhead"}
    assert server.seconds < 15  # about 1 s on an idle machine, under 4 s wanted

    # Jupyter kernels run in this Python, find both packages, and so do the commands in cells.
    jupyter_kernel = server.ask("/api/kernels", {"name": "python3"})["id"]
    code = (
        "import sys, shutil, labs, grader; print(sys.executable, shutil.which('python'), sep='|')"
    )
    printed = asyncio.run(execute(server, jupyter_kernel, code))
    here = os.path.realpath(sys.executable)
    assert [os.path.realpath(path) for path in printed.strip().split("|")] == [here, here]
    must_end_with_all(server, tmp_path, signal.SIGTERM)
    assert "WARNING" not in (tmp_path / "stderr").read_text()


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])  # the test above ends it by SIGTERM
def test_a_signal_ends_it_and_all_it_started(server: Server, tmp_path: Path, name: str) -> None:
    jupyter_kernel = server.ask("/api/kernels", {"name": "python3"})["id"]
    asyncio.run(execute(server, jupyter_kernel, "pass"))
    must_end_with_all(server, tmp_path, signal.Signals[name])


def test_a_start_that_fails_leaves_the_environment_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", "/dev/null/none")
    before = dict(os.environ)
    with pytest.raises(serve.CannotServe, match="cannot write to /dev/null/none"):
        serve.serve(tmp_path, None, None, browser=False)
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("listens_on", "named_by_jupyter", "shown"),
    [
        ("localhost", "localhost:8888", "http://localhost:8888"),
        ("10.0.0.7", "10.0.0.7:8888", "http://10.0.0.7:8888"),
        ("0.0.0.0", "4f07ca0d3299:8888", "http://127.0.0.1:8888"),
        ("::", "4f07ca0d3299:8888", "http://127.0.0.1:8888"),
    ],
)
def test_the_address_is_one_that_a_browser_can_open(
    listens_on: str, named_by_jupyter: str, shown: str
) -> None:
    server = SimpleNamespace(ip=listens_on, port=8888, connection_url=f"http://{named_by_jupyter}/")
    assert serve.address_of(server) == shown


def test_jupyterlab_gets_this_python_first_and_keeps_what_the_user_has() -> None:
    programs = str(Path(sys.executable).parent)
    given = {"PATH": f"/usr/bin{os.pathsep}{programs}", "JUPYTER_CONFIG_PATH": "/mine", "A": "b"}
    made = serve.environment_of_jupyterlab(given)
    assert made["PATH"].split(os.pathsep) == [programs, "/usr/bin"]
    assert made["JUPYTER_CONFIG_PATH"].split(os.pathsep)[1:] == ["/mine"]
    assert made["JUPYTER_PREFER_ENV_PATH"] == "1" and made["A"] == "b"
    assert given["PATH"] == f"/usr/bin{os.pathsep}{programs}"
