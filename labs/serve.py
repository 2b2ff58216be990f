"""Serve a folder by JupyterLab, in this very process and Python environment.

One process, so that a signal meant for it ends everything: JupyterLab ends the Jupyter kernels.
Settings that never change lie in `jupyter_config/`: no news and no look for updates (students may
have no network), no second Control-C, and none of nbgrader's panels, which are for instructors and
take a third of the starting time.
"""

from __future__ import annotations

import importlib.metadata
import os
import secrets
import signal
import sys
from pathlib import Path
from urllib.parse import quote, urlencode

_PACKAGE = Path(__file__).resolve().parent


class CannotServe(Exception):
    """JupyterLab does not start; the message says why and what to do."""


def serve(folder: Path, first: str | None, port: int | None, browser: bool) -> None:
    """Serve `folder` until SIGINT, SIGTERM or SIGHUP; prints the address once it is serving.

    `first`: the notebook to open, as a path within `folder`. `port` None: the first free one from
    8888 on. With `browser`, a browser is opened too. Raises CannotServe.
    """
    _prepare_environment()
    try:
        from jupyterlab.labapp import LabApp  # type: ignore[import-untyped]
    except ImportError as error:
        raise CannotServe(
            f"JupyterLab is not installed in {sys.prefix} ({error}). "
            f"Install it: {sys.executable} -m pip install 'jupyterlab>=4,<5'"
        ) from error

    # Chosen here: one that JupyterLab makes up itself comes with ten lines about it.
    token = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(24)
    page = f"/lab/tree/{quote(first)}" if first else "/lab"
    arguments = [
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.open_browser={browser}",
        f"--IdentityProvider.token={token}",
        f"--LabApp.default_url={page}",
    ]
    if port is not None:
        arguments += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")
    try:
        server = LabApp.initialize_server(arguments)
    except SystemExit as error:
        asked = f"port {port}" if port is not None else "any port from 8888 on"
        raise CannotServe(
            f"JupyterLab did not start on {asked}; it says why above. "
            "If the port is taken, name another one: labs start --port N"
        ) from error
    except OSError as error:
        raise CannotServe(
            f"JupyterLab did not start: {error}. If it names a folder that cannot be written, set "
            "JUPYTER_RUNTIME_DIR and JUPYTER_DATA_DIR to folders of yours."
        ) from error
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        # The terminal was closed: end in order, so that no Jupyter kernel stays behind.
        signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGTERM))
    address = server.connection_url.rstrip("/") + page + "?" + urlencode({"token": token})
    # Queued before the loop runs, and so done as soon as requests are answered.
    server.io_loop.add_callback(print, address, flush=True)
    server.start()


def _prepare_environment() -> None:
    """Let JupyterLab, its Jupyter kernels and its terminals find this Python environment."""
    _put_first("JUPYTER_CONFIG_PATH", str(_PACKAGE / "jupyter_config"))
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # its kernel specs before those of the user
    _put_first("PATH", str(Path(sys.executable).parent))
    try:
        importlib.metadata.distribution("ticklab")
    except importlib.metadata.PackageNotFoundError:  # run from a checkout that is not installed
        _put_first("PYTHONPATH", str(_PACKAGE.parent))


def _put_first(variable: str, folder: str) -> None:
    others = [part for part in os.environ.get(variable, "").split(os.pathsep) if part]
    os.environ[variable] = os.pathsep.join([folder, *(part for part in others if part != folder)])
