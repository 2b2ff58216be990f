"""A JupyterHub without a shared drive: from release to feedback through ngshare, by real servers.

A class in the room is its other service: each student joins it without code and address.

Everything is installed from the index of packages: the hub with its proxy, ngshare as its service,
and what the users have: Ticklab, JupyterLab and ngshare's exchange, as `docs` tells administrators.
Each user works by a notebook kernel of an own server, with an own folder as home.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.websocket import websocket_connect

from bench.report import must_hold, say, skipped, verdict
from grader.class_grading.platforms import write_classroom
from labs.files import write_atomically
from support.paths import REPOSITORY

LAB, FIGURE = "01-timer-overhead", "timer-overhead-fenced"
STUDENTS, QUICK = 10, 3
TEACHER, ADMINISTRATOR, OUR_TOKEN = "teacher", "administrator", uuid.uuid4().hex
PATIENCE_S = 300.0

#: What is installed, in an environment each. ngshare 0.6.0 forgets assignments with SQLAlchemy 2.
_HUB = ("jupyterhub==6.*", "configurable-http-proxy==0.4.*")
_SERVICE = ("ngshare==0.6.*", "sqlalchemy<2")
_USERS = ("jupyterhub==6.*", "nbgitpuller==1.*")
#: Of its own it would want a jupyter-core that JupyterLab 4 does not run with.
_EXCHANGE = "ngshare-exchange==0.5.3"

_SETTINGS = """\
c = get_config()
c.JupyterHub.bind_url = "http://127.0.0.1:{port[0]}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{port[1]}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{port[2]}"
c.ConfigurableHTTPProxy.command = [{environments!r} + "/hub/bin/configurable-http-proxy"]
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {top!r} + "/homes/{{username}}"
c.Spawner.cmd = [{environments!r} + "/users/bin/jupyterhub-singleuser", "--allow-root"]
live = {{"TICKLAB_LIVE": "http://127.0.0.1:{port[4]}/services/live#" + {token!r}}}
c.Spawner.environment = {{
    "PATH": {environments!r} + "/users/bin:/usr/bin:/bin", "JUPYTER_CONFIG_PATH": {top!r}, **live
}}
c.JupyterHub.services = [
    {{
        "name": "ngshare",
        "url": "http://127.0.0.1:{port[3]}",
        "command": [
            {environments!r} + "/service/bin/python", "-m", "ngshare",
            "--admins", {administrator!r},
            "--database", "sqlite:///" + {top!r} + "/ngshare.db", "--storage", {top!r} + "/files",
        ],
    }},
    {{"name": "bench", "api_token": {token!r}}},
    {{
        "name": "live", "url": "http://127.0.0.1:{port[4]}", "environment": live,
        "command": [{environments!r} + "/users/bin/grader", "live", {lab!r}],
    }},
]
c.JupyterHub.load_roles = [
    {{"name": "user", "scopes": ["self", "access:services!service=ngshare"]}},
    {{"name": "server", "scopes": ["users:activity!user", "access:services!service=ngshare"]}},
    {{
        "name": "bench", "services": ["bench"],
        "scopes": ["admin:users", "admin:servers", "tokens", "access:servers"],
    }},
]
"""
_OF_NBGRADER = """\
import ngshare_exchange

ngshare_exchange.configureExchange(get_config(), "{address}/services/ngshare")
"""
#: The work of a student: measure in the terminal, hand in a figure of this run, and check it.
_WORK = f"""
import json, subprocess
from pathlib import Path
from labs.recording.file import read
from labs.results.result import result_of
words = ["timer_overhead", "--variant", "fenced", "--save", "recordings/fenced.csv"]
subprocess.run(["labs", "measure", *words], check=True, cwd="{LAB}", capture_output=True)
value = result_of(read(Path("{LAB}/recordings/fenced.csv")), "fenced", "ns").estimate.value
figure = dict(value=value, unit="ns", recording="recordings/fenced.csv")
Path("{LAB}/figures.json").write_text(json.dumps(dict(format=1) | {{"{FIGURE}": figure}}))
check = subprocess.run(["grader", "check", "{LAB}", "--json"], capture_output=True, text=True)
[own] = [each for each in json.loads(check.stdout) if each["figure"] == "{FIGURE}"]
print(f"{{own['points']:g}} of {{own['max_points']:g}} points", *own["findings"])
"""
#: Joins the class and stays in it: the kernel ends with the cell, and the class keeps what it has.
_JOIN = f"""
import os, time
os.chdir("{LAB}")
from labs import start
from grader import check
lab = start("{LAB}", check)
lab.join()
time.sleep(3)
"""


class Failed(RuntimeError):
    """A command of a user, or an answer of the hub, that is not as it must be."""


def run(quick: bool) -> bool:
    """Installs what is missing, starts the hub, and goes through a lab with all its users."""
    students = [f"student-{n}" for n in range(QUICK if quick else STUDENTS)]
    must_hold(f"a lab goes from release to feedback for {len(students)} users without a drive")
    environments = REPOSITORY / "build" / "hub"
    try:
        _install(environments)
    except subprocess.CalledProcessError as error:
        return skipped(f"not all could be installed: {error.stderr.strip().splitlines()[-1:]}")
    with tempfile.TemporaryDirectory(prefix="ticklab-hub-") as folder, ExitStack() as stack:
        hub = Hub(Path(folder), environments)
        log = Path(folder) / "hub.log"
        process = hub.start(stack.enter_context(log.open("w")))
        try:
            return asyncio.run(_evening(hub, students))
        except Failed as error:
            say(log.read_text(errors="replace")[-2000:])
            return verdict(False, str(error))
        finally:  # the hub, its proxy, its service and the servers are one group
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


def _install(environments: Path) -> None:
    """Makes the three environments once. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        write_classroom(LAB, Path(folder) / "template", Path(folder))
        packed = Path(folder) / "template" / ".github" / "ticklab"
        lock, [wheel] = packed / "requirements.lock", packed.glob("*.whl")
        users = [["--require-hashes", "-r", str(lock)], _USERS, ["--no-deps", _EXCHANGE]]
        for name, steps in (("hub", [_HUB]), ("service", [_SERVICE]), ("users", users)):
            made, stamp = environments / name, environments / f"{name}.made"
            pip = [str(made / "bin" / "python"), "-m", "pip", "install", "-q"]
            wanted = f"{steps[1:] or steps} {lock.read_text() if name == 'users' else ''}"
            if not stamp.exists() or stamp.read_text() != wanted:
                say(f"   installing what the {name} needs ...")
                _run(sys.executable, "-m", "venv", "--clear", str(made))
                for words in steps:
                    _run(*pip, *words)
                write_atomically(stamp, wanted.encode())
            if name == "users":
                _run(*pip, "--no-deps", "--force-reinstall", str(wheel))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


class Hub:
    """A hub in the folder `top`, with its settings, and the tokens of its users."""

    def __init__(self, top: Path, environments: Path) -> None:
        self.top, self.environments = top, environments
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(5)]
        ports = [each.getsockname()[1] for each in sockets]
        for each in sockets:
            each.close()
        self.address = f"http://127.0.0.1:{ports[0]}"
        self.tokens: dict[str, str] = {}
        (top / "homes").mkdir()
        settings = _SETTINGS.format(
            port=ports, environments=str(environments), top=str(top), token=OUR_TOKEN,
            administrator=ADMINISTRATOR, lab=LAB,
        )  # fmt: skip
        (top / "jupyterhub_config.py").write_text(settings)
        (top / "nbgrader_config.py").write_text(_OF_NBGRADER.format(address=self.address))

    def start(self, log: Any) -> subprocess.Popen[bytes]:
        path = f"{self.environments / 'hub' / 'bin'}:{os.environ['PATH']}"
        return subprocess.Popen(
            [self.environments / "hub" / "bin" / "jupyterhub"],
            cwd=self.top, env={**os.environ, "PATH": path}, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip

    async def ask(self, path: str, method: str = "GET", token: str = OUR_TOKEN) -> HTTPResponse:
        """An answer of the hub or of a server, whatever its status."""
        return await AsyncHTTPClient().fetch(
            f"{self.address}{path}", method=method, raise_error=False, request_timeout=PATIENCE_S,
            headers={"Authorization": f"token {token}"}, body="{}" if method == "POST" else None,
        )  # fmt: skip

    async def until(self, path: str, holds: str) -> None:
        """Waits until an answer has the word `holds`. Raises Failed."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            with suppress(OSError):  # nobody listens yet
                answer = await self.ask(path)
                if answer.code == 200 and holds in answer.body.decode():
                    return
            await asyncio.sleep(0.5)
        raise Failed(f"{path} never answered {holds}")

    async def enter(self, user: str) -> None:
        """Starts the server of a user."""
        await self.ask(f"/hub/api/users/{user}", "POST")
        made = await self.ask(f"/hub/api/users/{user}/tokens", "POST")
        self.tokens[user] = json.loads(made.body)["token"]
        (self.top / "homes" / user).mkdir()
        await self.ask(f"/hub/api/users/{user}/server", "POST")
        await self.until(f"/hub/api/users/{user}", '"ready": true')

    async def python(self, user: str, code: str) -> str:
        """What code prints in a new kernel of the user's server. Raises Failed if it fails."""
        at = f"/user/{user}/api/kernels"
        started = await self.ask(at, "POST", self.tokens[user])
        if started.code != 201:
            raise Failed(f"{user} gets no kernel: {started.code} {started.body.decode()[:200]}")
        kernel = json.loads(started.body)["id"]
        request = HTTPRequest(
            f"{self.address.replace('http', 'ws')}{at}/{kernel}/channels",
            headers={"Authorization": f"token {self.tokens[user]}"},
        )
        socket = await websocket_connect(request)
        content = {"code": code, "silent": False, "store_history": False, "stop_on_error": True}
        header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": user,
                  "session": kernel, "version": "5.3"}  # fmt: skip
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
        await socket.write_message(json.dumps({**message, "channel": "shell", "buffers": []}))
        said = ""
        while (text := await asyncio.wait_for(socket.read_message(), PATIENCE_S)) is not None:
            got = json.loads(text)
            if got["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            if got["msg_type"] == "stream":
                said += got["content"]["text"]
            if got["msg_type"] == "error":
                raise Failed(f"{user}: {got['content']['evalue']} {said}")
            # What it printed comes before this; the reply may come before both.
            if got["msg_type"] == "status" and got["content"]["execution_state"] == "idle":
                break
        socket.close()
        await self.ask(f"{at}/{kernel}", "DELETE", self.tokens[user])
        return said

    async def typed(self, user: str, *words: str, at: str = ".", status: int = 0) -> str:
        """What a command prints that the user types. Raises Failed if it ends otherwise."""
        said = await self.python(
            user,
            f"import subprocess; d = subprocess.run({[*words]!r}, cwd={at!r}, "
            "capture_output=True, text=True); print(d.returncode, d.stdout + d.stderr)",
        )
        found, _, rest = said.partition(" ")
        if found != str(status):
            raise Failed(f"{user}: {' '.join(words)} ended with {found}, not {status}: {rest}")
        return rest


def _repository(top: Path) -> str:
    """The template of `grader classroom`, as a repository."""
    folder = top / "template"
    write_classroom(LAB, folder, top)
    who = ("-c", "user.name=teacher", "-c", "user.email=teacher@uni.example")
    for words in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-q", "-m", LAB)):
        _run("git", "-C", str(folder), *words)
    return f"file://{folder}"


async def _class_in_the_room(hub: Hub, students: Sequence[str]) -> None:
    """All join; the instructor opens the page by the proxy, and reveals. Raises Failed."""
    for student in students:
        await hub.python(student, _JOIN)
    link = re.search(r"(/services/live/)(desk\?key=\S+)", (hub.top / "hub.log").read_text())
    if link is None:
        raise Failed("the class has printed no link")

    async def asked(path: str, cookie: str, button: str | None = None) -> HTTPResponse:
        return await AsyncHTTPClient().fetch(
            f"{hub.address}{link[1]}{path}", method="POST" if button else "GET", body=button,
            headers={"Cookie": cookie, "X-Live": "1"}, raise_error=False, follow_redirects=False,
        )  # fmt: skip

    opened = await asked(link[2], "")
    cookie = opened.headers.get("Set-Cookie", "").partition(";")[0]
    pressed = await asked("desk", cookie, "reveal")
    wall = await asked("state", cookie)
    found = (opened.code, pressed.code, wall.code, (await asked(link[2], "")).code)
    if found != (303, 204, 200, 403):
        raise Failed(f"the class answers {found} by the proxy")
    counts = {what: count for count, what in json.loads(wall.body)["counts"]}
    say(f"   the class in the room, by the proxy: {counts}")
    if not counts["here"] == counts["measured"] == len(students):
        raise Failed(f"the class has {counts}")


async def _evening(hub: Hub, students: Sequence[str]) -> bool:
    await hub.until("/services/ngshare/healthz", "true")
    for user in (ADMINISTRATOR, TEACHER, *students):
        await hub.enter(user)
    manage = "ngshare-course-management"
    await hub.typed(ADMINISTRATOR, manage, "create_course", "ticklab", TEACHER)
    for student in students:
        await hub.typed(TEACHER, manage, "add_student", "ticklab", student, "--no-gb")
    await hub.typed(TEACHER, "grader", "course", "course")
    for step in ("generate_assignment", "release_assignment"):
        await hub.typed(TEACHER, "nbgrader", step, LAB, at="course")
    say(f"   {len(students)} servers; the lab is released")

    template = _repository(hub.top)
    words = {"repo": template, "branch": "main", "targetpath": "pulled"}
    link = f"/user/{students[0]}/git-pull/api?{urlencode(words)}"
    await hub.ask(link, token=hub.tokens[students[0]])
    if not (hub.top / "homes" / students[0] / "pulled" / LAB / f"{LAB}.ipynb").is_file():
        raise Failed(f"{link} brought no lab")

    of_course = ("--course", "ticklab")
    own: dict[str, str] = {}
    for n, student in enumerate(students):
        await hub.typed(student, "nbgrader", "fetch_assignment", LAB, *of_course)
        own[student], *findings = (await hub.python(student, _WORK)).strip().partition(" points")
        say(f"   {student}: {own[student]}{''.join(findings)}")
        if n % 2:
            await hub.typed(student, "nbgrader", "submit", LAB, *of_course)
        else:  # the status is 1, because the other figures are missing
            said = await hub.typed(student, "labs", "hand-in", LAB, status=1)
            if "submitted to the exchange of the course ticklab" not in said:
                raise Failed(f"{student}: {said}")
    await _class_in_the_room(hub, students)
    # Nobody but the teacher gets at the work of others.
    said = await hub.typed(students[0], "nbgrader", "list", "--inbound", *of_course)
    strangers = [each for each in students[1:] if each in said]

    exchange = ("grader", "collect", "exchange", "--lab", LAB)
    await hub.typed(TEACHER, *exchange, at="course")
    for step in ("autograde", "feedback"):
        await hub.typed(TEACHER, "grader", step, LAB, at="course")
    await hub.typed(TEACHER, "nbgrader", "release_feedback", LAB, at="course")
    read = f"import glob; print(open(glob.glob('{LAB}/feedback/*/{LAB}.html')[0]).read())"
    same = []
    for student in students:
        await hub.typed(student, "nbgrader", "fetch_feedback", LAB, *of_course)
        stated = re.findall(rf"{FIGURE}: [\w ]+, ([^<]*) points", await hub.python(student, read))
        if own[student] in stated:
            same.append(student)
        else:
            say(f"   {student} reads {stated} after {own[student]}")
    # Again, with the feedback in the folder.
    await hub.typed(students[0], "labs", "hand-in", LAB, status=1)
    again = await hub.typed(TEACHER, *exchange, at="course")
    held = len(same) == len(students) and not strangers and "NOT collected" not in again
    figures = f"{len(same)} of {len(students)} read the verdict that they saw before"
    return verdict(held, figures + (f"; {students[0]} sees {strangers}" if strangers else ""))
