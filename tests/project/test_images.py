"""The Dockerfile, the dev container and the pages say the same; no test builds an image."""

from __future__ import annotations

import argparse
import json
import re
import shlex

from labs.commands.arguments import COMMANDS, DEFAULT
from labs.commands.command_line import Parser
from support.images import (
    DOCKER_BUILD,
    DOCKER_RUN,
    DOCKERFILE,
    FOLDER,
    Instruction,
    dev_container,
    instructions,
    stages,
)
from support.paths import REPOSITORY

TEXT = DOCKERFILE.read_text(encoding="utf-8")
FOUND = instructions(TEXT)
SYSTEM, BUILT, LAST = stages(FOUND)
USER, HOME = "student", "/home/student"


def installed() -> set[str]:
    """The Debian packages of the image."""
    [run] = [each for each in SYSTEM if "apt-get install" in each.rest]
    words = run.rest.split("apt-get install")[1].split("&&")[0].split()
    return {word for word in words if not word.startswith("-")}


def copied(stage: list[Instruction]) -> list[str]:
    """What a stage copies from the repository."""
    copies = [each for each in stage if each.name == "COPY" and "--from=" not in each.rest]
    return [source for each in copies for source in each.words[:-1]]


def parsed(words: list[str]) -> argparse.Namespace:
    """What a command of `labs` is asked for; the test fails if it does not take the words."""
    parser = Parser(prog="labs")
    COMMANDS[words[1]].parser(parser.add_subparsers(), words[1])
    assert words[0] == "labs"
    return parser.parse_args(words[1:])


def test_a_dockerfile_is_read_as_docker_reads_it() -> None:
    read = instructions("# no\nFROM a AS b\nRUN x \\\n  # no\n  && y\n\nfrom b\nUSER 7\n")
    assert [each.name for each in read] == ["FROM", "RUN", "FROM", "USER"]
    assert read[1].words[0] == "x"
    assert [len(stage) for stage in stages(read)] == [2, 2]


def test_the_image_has_what_the_page_asks_debian_for() -> None:
    page = (REPOSITORY / "docs" / "students" / "start.md").read_text(encoding="utf-8")
    [asked] = re.findall(r"\| Debian.*`sudo apt install ([^`]+)`", page)
    assert set(asked.split()) <= installed()
    assert installed() - set(asked.split()) == {"git", "python3", "strace"}


def test_the_image_installs_the_locked_versions_with_their_hashes() -> None:
    pips = [each.rest for each in BUILT if "pip install" in each.rest]
    assert len(pips) == 2
    assert "--no-deps --require-hashes -r requirements.lock" in pips[0]
    # From the lock come also the packages that build Ticklab.
    assert pips[1].endswith("--no-deps --no-build-isolation .")


def test_what_the_image_copies_is_there_and_is_what_a_wheel_is_built_from() -> None:
    sources = copied(BUILT)
    assert [name for name in sources if not (REPOSITORY / name).exists()] == []
    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    hook = (REPOSITORY / "hatch_build.py").read_text(encoding="utf-8")
    for name in ("README.md", "LICENSE", "LICENSES", "labs", "grader"):
        assert re.search(rf'"{name}["/]', project) and name in sources
    for name in ("kernels_c", "notebooks"):
        assert f'"{name}"' in hook and name in sources


def test_docker_is_sent_what_the_image_copies_and_nothing_that_a_working_copy_makes() -> None:
    ignored = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    first, *rest = [line for line in ignored if line and not line.startswith("#")]
    assert first == "*"
    sent = {line.removeprefix("!") for line in rest if line.startswith("!")}
    assert sent == set(copied(BUILT))
    left_out = [line for line in rest if not line.startswith("!")]
    # The last pattern that matches decides: what is left out of a folder must come after it.
    assert rest[-len(left_out) :] == left_out
    made = (REPOSITORY / ".gitignore").read_text(encoding="utf-8")
    assert {line.removeprefix("/").rstrip("/") for line in made.splitlines()} > {
        line.removeprefix("**/") for line in left_out
    }


def test_the_last_stage_has_nothing_of_the_repository_and_so_no_solutions() -> None:
    assert copied(SYSTEM) == copied(LAST) == []
    [copy] = [each for each in LAST if each.name == "COPY"]
    assert copy.words == ["--from=built", "/opt/ticklab", "/opt/ticklab"]


def test_the_image_runs_as_a_user_who_is_not_root() -> None:
    [made] = [each.words for each in SYSTEM if "useradd" in each.rest]
    [used] = [each.rest for each in LAST if each.name == "USER"]
    assert made[made.index("--uid") + 1] == used != "0"
    assert USER in made
    assert f"-o {USER} -g {USER} {HOME}/{DEFAULT.removeprefix('~/')}" in " ".join(made)
    assert [each.rest for each in LAST if each.name == "WORKDIR"] == [HOME]


def test_the_image_starts_what_the_program_takes_on_the_port_that_the_pages_publish() -> None:
    [start] = [each.rest for each in LAST if each.name == "CMD"]
    chosen = parsed(json.loads(start))
    [port] = [each.rest for each in LAST if each.name == "EXPOSE"]
    assert chosen.port == int(port)
    assert chosen.no_browser and not chosen.no_lab
    [settings] = re.findall(r"echo '(\{.*\})' > /etc/jupyter/", TEXT)
    assert json.loads(settings) == {"ServerApp": {"ip": "0.0.0.0"}}
    assert f":{port}:{port} " in DOCKER_RUN


def test_a_login_shell_of_the_image_finds_the_same_programs() -> None:
    [first] = [each.rest for each in SYSTEM if each.name == "ENV"]
    [[value]] = [
        re.findall(r"echo '(PATH=\S+)' > /etc/profile\.d/", each.rest)
        for each in LAST
        if "profile.d" in each.rest
    ]
    assert value in first.split()


def test_the_pages_and_the_dockerfile_give_the_same_two_commands() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    start = (REPOSITORY / "docs" / "students" / "start.md").read_text(encoding="utf-8")
    for command in (DOCKER_BUILD, DOCKER_RUN):
        assert f"#   {command}\n" in TEXT
        assert command in readme and f"\n{command}\n" in start
    words = shlex.split(DOCKER_RUN)
    assert words[words.index("-v") + 1] == f"ticklab-labs:{HOME}/{DEFAULT.removeprefix('~/')}"


def test_the_dev_container_uses_the_same_dockerfile_and_its_user() -> None:
    stated = dev_container()
    build = stated["build"]
    assert (FOLDER / build["dockerfile"]).samefile(DOCKERFILE)
    assert (FOLDER / build["context"]).samefile(REPOSITORY)
    assert stated["remoteUser"] == USER
    assert stated["hostRequirements"]["cpus"] == 2
    [port] = stated["forwardPorts"]
    assert list(stated["portsAttributes"]) == [str(port)] == re.findall(r"EXPOSE (\d+)", TEXT)
    python = stated["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert python == "/opt/ticklab/bin/python"
    for command in stated["postCreateCommand"].split(" && "):
        assert parsed(shlex.split(command))
