"""The command `labs start`: make the student's own copy of the labs and open it in JupyterLab."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.metadata
import json
import os
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from pydantic import ValidationError

from labs import paths
from labs.commands.arguments import DEFAULT
from labs.files import explained, read_bounded, who_can_read, write_atomically
from labs.json_text import BadJson, Form, parse_json, text_of
from labs.terminal import say
from labs.units import plural

FIRST = "00-start-here/00-start-here.ipynb"


def run_start(arguments: argparse.Namespace) -> int:
    """Make or update the copy, then serve it until Control-C. The exit status is 0, or 1 on error.

    Standard output has only the address; reports and errors go to standard error.
    """
    try:
        folder = _folder(arguments.dir)
        done = update_copy(paths.released(), folder)
        _report(done, folder)
        if arguments.no_lab:
            return 0
        _say("Starting JupyterLab. To end it, press Control-C here.")
        first = FIRST if (folder / FIRST).is_file() else None
        serve(folder, first, arguments.port, browser=not arguments.no_browser)
    except (paths.PartMissing, CannotUpdateCopy, CannotServe) as error:
        _say(str(error))
        return 1
    return 0


def _folder(asked: Path | None) -> Path:
    """The student's folder: the one asked for, else this one if it is a copy, else the default."""
    try:
        if asked is None:
            asked = Path.cwd() if is_copy(Path.cwd()) else Path(DEFAULT)
        return asked.expanduser().absolute()
    except (OSError, RuntimeError) as error:  # deleted current folder; no home folder
        raise CannotUpdateCopy(
            f"There is no folder for your labs: {error}. Name one: labs start DIR"
        ) from error


def _report(done: CopyChanges, folder: Path) -> None:
    if done.manifest_lost:
        _say(
            ".ticklab.json cannot be read, so Ticklab no longer knows which files you changed. "
            "It keeps every file that differs from ours."
        )
    if done.added:
        _say(f"Put {plural(len(done.added), 'file')} in {folder}. {who_can_read(folder)}")
    elif not done.updated and not done.newer:
        _say(f"Your labs are in {folder}.")
    if done.updated:
        _say(f"Updated {plural(len(done.updated), 'file')} that you had not changed in {folder}.")
    for yours, newer in done.newer:
        _say(
            f"Kept your {folder / yours}; the newer version is in the same folder: "
            f"{Path(newer).name}"
        )


def _say(line: str) -> None:
    say(line, file=sys.stderr)


# JupyterLab serves the folder in the same process: one process suffices for a signal to end
# everything, because JupyterLab ends the Jupyter kernels. Fixed settings are in `jupyter_config/`.
# They turn off news and updates (students may have no network), and nbgrader's panels, which are
# for instructors and load slowly. What shows the C of `%%ckernel` cells in colours is in
# `front_ends/`. The wheel installs it where every Jupyter server of the environment finds it; a
# checkout is served with its own copy.

PATIENCE_S = 3.0  # time for an orderly shutdown; a signal after it ends the process at once
_PACKAGE = Path(__file__).resolve().parent.parent
#: In a checkout; a wheel has them in the environment's `share/jupyter`.
_EXTENSIONS = _PACKAGE / "front_ends" / "share" / "jupyter" / "labextensions"


class CannotServe(Exception):
    """JupyterLab cannot start; the message says why and what to do."""


def serve(folder: Path, first: str | None, port: int | None, browser: bool) -> None:
    """Serve `folder` until SIGINT, SIGTERM or SIGHUP; print the address when it is ready.

    `first` is the notebook to open, as a path within `folder`. If `port` is None, JupyterLab takes
    the first free port from 8888 on. With `browser`, it opens a browser too. Raises CannotServe.
    """
    with _environment(environment_of_jupyterlab(os.environ)):
        _serve(folder, first, port, browser)


def _serve(folder: Path, first: str | None, port: int | None, browser: bool) -> None:
    """Serve in the environment that JupyterLab needs."""
    _demand_runtime_folder()
    try:
        from jupyterlab.labapp import LabApp  # type: ignore[import-untyped]
    except ImportError as error:
        raise CannotServe(
            f"JupyterLab is not installed in {sys.prefix} ({error}). "
            f"Install it: {sys.executable} -m pip install 'jupyterlab>=4,<5'"
        ) from error

    # We choose the token: if JupyterLab makes one up, it prints ten lines about it.
    token = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(24)
    own = f"/lab/workspaces/{workspace_of(folder)}"
    page = f"{own}/tree/{quote(first)}" if first else own
    arguments = [
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.open_browser={browser}",
        f"--IdentityProvider.token={token}",
        f"--LabApp.default_url={page}",
    ]
    if _EXTENSIONS.is_dir():
        arguments.append(f"--LabApp.extra_labextensions_path={_EXTENSIONS}")
    if port is not None:
        arguments += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")
    try:
        server = LabApp.initialize_server(arguments)
    except SystemExit as error:
        asked = f"port {port}" if port is not None else "any port from 8888 on"
        raise CannotServe(
            f"JupyterLab did not start on {asked}; its own message above says why. "
            "If the port is taken, choose another one: labs start --port N"
        ) from error
    _end_on_signals(server)
    address = address_of(server) + page + "?" + urlencode({"token": token})
    # The loop runs this callback as soon as it starts to answer requests.
    server.io_loop.add_callback(print, address, flush=True)
    server.start()


def workspace_of(folder: Path) -> str:
    """The name by which JupyterLab remembers what is open in this copy of the labs."""
    return hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]


def address_of(server: Any) -> str:
    """Where a browser reaches `server`, without a slash at the end.

    For a server that listens on every address, Jupyter gives the name of the machine. In a
    container that is a number which no browser outside knows; its ports are on this machine.
    """
    address = urlsplit(str(server.connection_url))
    if server.ip in ("", "0.0.0.0", "::"):
        address = address._replace(netloc=f"127.0.0.1:{server.port}")
    return address.geturl().rstrip("/")


def _end_on_signals(server: Any) -> None:
    """On a signal, end the Jupyter kernels and then `server`, without asking.

    By itself, JupyterLab asks first on a terminal. Elsewhere SIGINT ends it, but not its kernels.
    """

    since: list[float] = []  # when each signal came

    def end(number: int, frame: FrameType | None) -> None:
        since.append(time.monotonic())
        if len(since) == 1:
            server.stop(from_signal=True)
        elif since[-1] - since[0] > PATIENCE_S:  # an earlier signal only repeats the first
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)


def _demand_runtime_folder() -> None:
    """Make the folder where Jupyter records running servers; JupyterLab crashes without it."""
    from jupyter_core.paths import jupyter_runtime_dir

    folder = Path(jupyter_runtime_dir())
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise CannotServe(
            f"JupyterLab cannot write to {folder}: {error.strerror}. "
            "Set JUPYTER_DATA_DIR and JUPYTER_CONFIG_DIR to folders that you may write, "
            "and start again."
        ) from error


def environment_of_jupyterlab(own: Mapping[str, str]) -> dict[str, str]:
    """The environment `own`, changed so that JupyterLab and what it starts use this Python."""
    made = dict(own)
    _put_first(made, "JUPYTER_CONFIG_PATH", str(_PACKAGE / "jupyter_config"))
    made["JUPYTER_PREFER_ENV_PATH"] = "1"  # its kernel specs before those of the user
    _put_first(made, "PATH", str(Path(sys.executable).parent))
    try:
        importlib.metadata.distribution("ticklab")
    except importlib.metadata.PackageNotFoundError:  # run from a checkout that is not installed
        _put_first(made, "PYTHONPATH", str(_PACKAGE.parent))
    return made


def _put_first(environment: dict[str, str], variable: str, folder: str) -> None:
    others = [part for part in environment.get(variable, "").split(os.pathsep) if part]
    environment[variable] = os.pathsep.join([folder, *(part for part in others if part != folder)])


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Give this process the environment `wanted` for a while.

    JupyterLab runs in this process. It reads its own settings from `os.environ`, and copies it for
    each Jupyter kernel and terminal. So we cannot pass it an environment of its own.
    """
    before = dict(os.environ)
    os.environ.update(wanted)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


# The student's copy of the released labs, which is kept up to date without loss.
#
# We never write to a file that the student changed. A file counts as unchanged only if it still has
# the content that we wrote last; the manifest in the copy remembers its hash. The content of a
# notebook is its cells with their outputs, because JupyterLab rewrites the notebook's metadata.


MANIFEST = ".ticklab.json"
_MOST_MANIFEST = 1 << 20  # bytes
_MOST_FILE = 1 << 28


class _Manifest(Form):
    """The form of the manifest."""

    files: dict[str, str]


class CannotUpdateCopy(Exception):
    """The copy cannot be made or updated; the message says where, why, and what to do.

    No older file is lost.
    """


@dataclass(frozen=True)
class CopyChanges:
    """The files that were added or updated, by path within the copy."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    newer: list[tuple[str, str]] = field(default_factory=list)  # the student's file, the newer one
    manifest_lost: bool = False


def is_copy(folder: Path) -> bool:
    """Whether `folder` is a student's copy of the labs."""
    return (folder / MANIFEST).is_file()


def update_copy(released: Path, folder: Path) -> CopyChanges:
    """Update the copy in `folder` to `released`, or make it if it does not exist.

    We keep a file that the student changed, and write a newer version next to it once:
    `NAME.new.ipynb`. We restore a file that the student deleted. Raises CannotUpdateCopy.
    """
    with _explained_errors(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        known = _read_manifest(folder)
        lost, known = known is None, known or _Manifest(files={})
        versions = dict(known.files)
        done = CopyChanges(manifest_lost=lost)
        try:
            for source in _files(released):
                name, content = source.relative_to(released).as_posix(), source.read_bytes()
                _update_file(name, content, folder, versions, done)
        except BaseException:
            # If the manifest can still be written, the next call knows the files written so far.
            with contextlib.suppress(OSError):
                _write_manifest(folder, _Manifest(files=versions))
            raise
        now = _Manifest(files=versions)
        if now != known or lost or not is_copy(folder):
            _write_manifest(folder, now)
    return done


def _update_file(
    name: str, content: bytes, folder: Path, versions: dict[str, str], done: CopyChanges
) -> None:
    newest = _hash(name, content)
    target = folder / name
    there = os.path.lexists(target)
    present = _hash_of(target) if there else None
    if not there:
        write_atomically(target, content)
        done.added.append(name)
    elif present == newest:
        pass
    elif present is not None and present == versions.get(name):
        write_atomically(target, content)
        done.updated.append(name)
    elif versions.get(name) != newest:
        done.newer.append((name, _add_newer(name, content, newest, folder, versions)))
    # Also for a file that the student changed: we need not offer this version again.
    versions[name] = newest


def _add_newer(
    name: str, content: bytes, newest: str, folder: Path, versions: dict[str, str]
) -> str:
    """Write a newer version next to a changed file; it replaces an older one that is unchanged."""
    path = Path(name)
    for number in range(1, 1000):
        label = "new" if number == 1 else f"new-{number}"
        newer = path.with_name(f"{path.stem}.{label}{path.suffix}").as_posix()
        target = folder / newer
        present = _hash_of(target) if os.path.lexists(target) else None
        free = not os.path.lexists(target)
        if free or (present is not None and present in (newest, versions.get(newer))):
            if present != newest:
                write_atomically(target, content)
            versions[newer] = newest
            return newer
    raise CannotUpdateCopy(
        f"There are already a thousand newer versions of {folder / name}. "
        "Move them away and start again."
    )


def _files(released: Path) -> list[Path]:
    """All files of the labs, without hidden files and without files that a run leaves behind."""
    return sorted(
        file
        for file in released.rglob("*")
        if file.is_file()
        and not any(
            part.startswith(".") or part == "__pycache__"
            for part in file.relative_to(released).parts
        )
    )


def _hash_of(file: Path) -> str | None:
    """The hash of the content; None if `file` is not a regular file that we can read."""
    try:
        return _hash(file.name, read_bounded(file, _MOST_FILE))
    except OSError:
        return None


def _hash(name: str, content: bytes) -> str:
    """The hash of a file's content: the cells of a notebook, or every byte of another file."""
    if name.endswith(".ipynb"):
        with contextlib.suppress(ValueError, TypeError, KeyError):
            cells = parse_json(text_of(content), lenient=True)["cells"]
            for cell in cells:
                cell["source"] = "".join(cell["source"])
            content = json.dumps(cells, sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()


def _read_manifest(folder: Path) -> _Manifest | None:
    """The hash of each file as we last wrote it; None if the manifest is unreadable."""
    if not os.path.lexists(folder / MANIFEST):
        return _Manifest(files={})
    try:
        content = read_bounded(folder / MANIFEST, _MOST_MANIFEST)
        return _Manifest.model_validate(parse_json(text_of(content)))
    except (OSError, BadJson, ValidationError):
        return None


def _write_manifest(folder: Path, known: _Manifest) -> None:
    about = "`labs start` keeps the version of each file here. Please do not change this file."
    stated: dict[str, object] = {"about": about, "files": known.files}
    text = json.dumps(stated, indent=1, sort_keys=True)
    write_atomically(folder / MANIFEST, text.encode() + b"\n")


@contextlib.contextmanager
def _explained_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotUpdateCopy(
            f"The labs cannot be put in {folder}: {explained(error)}. Nothing there was lost. You "
            "may name another folder: labs start DIR"
        ) from error
