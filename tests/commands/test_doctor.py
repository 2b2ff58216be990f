"""`labs doctor`: each point from facts alone, and the whole command as a reader runs it."""

from __future__ import annotations

import argparse
import dataclasses
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from labs import paths, terminal
from labs.commands import doctor
from labs.commands.doctor import ALL_POINTS, Point, examine, in_short
from labs.machine import fitness
from labs.machine.description import Machine
from labs.machine.fitness import Counter, Disk, Outcome, Trials, can_measure, verdict
from support.paths import REPOSITORY
from support.plain_machine import PLAIN
from support.programs import call

ROOMY = Disk("/somewhere", 100 << 30)
COUNTER = Counter("tsc", step=2, overhead=44, frequency_hz=2.6e9, core_cycle_ticks=0.7)
GOOD = Trials(
    compiler=Outcome("gcc 12 (/usr/bin/gcc)"),
    counter=COUNTER,
    pinning=Outcome("obtained"),
    here=ROOMY,
    cache=ROOMY,
    meanwhile={"steal.share": "0.0000"},
)
POINTS = [
    "compiler",
    "counter",
    "counter step",
    "CPUs allowed",
    "pinning",
    "CPU quota",
    "memory",
    "processes",
    "hypervisor",
    "governor",
    "turbo",
    "SMT",
    "seccomp",
    "load",
    "steal",
    "interruptions",
    "clock source",
    "disk here",
    "disk, cache",
]


def point(name: str, machine: Machine = PLAIN, tried: Trials = GOOD) -> Point:
    (found,) = (point for point in examine(machine, tried) if point.name == name)
    return found


def test_a_plain_machine_passes_everything() -> None:
    points = examine(PLAIN, GOOD)
    assert [point.name for point in points] == POINTS
    assert {point.status for point in points} == {"PASS"}
    assert not any(point.remedy for point in points)
    assert verdict(points) == "Fit to measure."


def test_what_is_odd_about_a_machine() -> None:
    for change, name, status in (
        ({"cpus_allowed": (1,)}, "CPUs allowed", "CAUTION"),
        ({"cpus_allowed": None}, "CPUs allowed", "SKIPPED"),
        ({"cpu_quota": 0.5}, "CPU quota", "CAUTION"),
        ({"cpu_quota": 4.0}, "CPU quota", "PASS"),
        ({"memory": None}, "memory", "SKIPPED"),
        ({"memory_limit": 300 << 20}, "memory", "CAUTION"),
        ({"memory_limit": 2 << 30}, "memory", "PASS"),
        ({"memory": 512 << 20}, "memory", "CAUTION"),
        ({"task_limit": 20}, "processes", "CAUTION"),
        ({"task_limit": 4096}, "processes", "PASS"),
        ({"virtual": True, "hypervisor": "KVM"}, "hypervisor", "CAUTION"),
        ({"virtual": None}, "hypervisor", "SKIPPED"),
        ({"wsl": 1}, "hypervisor", "CAUTION"),
        ({"governor": "powersave"}, "governor", "CAUTION"),
        ({"governor": None}, "governor", "SKIPPED"),
        ({"turbo": True}, "turbo", "CAUTION"),
        ({"turbo": None}, "turbo", "SKIPPED"),
        ({"smt": True}, "SMT", "CAUTION"),
        ({"seccomp": "filter"}, "seccomp", "CAUTION"),
        ({"seccomp": None}, "seccomp", "SKIPPED"),
        ({"load": 3.0}, "load", "CAUTION"),
        ({"load": None}, "load", "SKIPPED"),
        ({"steal": 0.2}, "steal", "CAUTION"),
        ({"clock_source": "hpet"}, "clock source", "CAUTION"),
        ({"clock_source": None}, "clock source", "SKIPPED"),
    ):
        machine = dataclasses.replace(PLAIN, **change)
        found = point(name, machine)
        assert found.status == status
        assert bool(found.remedy) == (status == "CAUTION")
        assert can_measure(examine(machine, GOOD)), change


def test_what_came_of_the_trials() -> None:
    for change, name, status in (
        ({"compiler": Outcome(problem="no compiler")}, "compiler", "FAIL"),
        ({"counter": None, "counter_problem": "killed"}, "counter", "FAIL"),
        ({"counter": None}, "counter", "SKIPPED"),
        ({"pinning": Outcome(problem="not permitted")}, "pinning", "CAUTION"),
        ({"pinning": None}, "pinning", "SKIPPED"),
        ({"here": Disk("/x", None, "read-only")}, "disk here", "CAUTION"),
        ({"here": Disk("/x", 1 << 20)}, "disk here", "CAUTION"),
        ({"cache": Disk("/x", None, "read-only")}, "disk, cache", "FAIL"),
        ({"cache": Disk("/x", 1 << 20)}, "disk, cache", "FAIL"),
        ({"cache": Disk("/x", 100 << 20)}, "disk, cache", "CAUTION"),
        ({"meanwhile": {"steal.share": "0.5"}}, "steal", "CAUTION"),
        (
            {"counter": dataclasses.replace(COUNTER, taken_by_others=0.14)},
            "interruptions",
            "CAUTION",
        ),
        ({"counter": dataclasses.replace(COUNTER, taken_by_others=0.02)}, "interruptions", "PASS"),
        ({"counter": None}, "interruptions", "SKIPPED"),
    ):
        tried = dataclasses.replace(GOOD, **change)
        found = point(name, tried=tried)
        assert found.status == status
        assert bool(found.remedy) == (status in ("CAUTION", "FAIL"))
        assert can_measure(examine(PLAIN, tried)) == (status != "FAIL")


def test_interruptions_that_come_often_ask_for_shorter_batches() -> None:
    for gaps_per_s, seen, remedy in (
        (0, "of the time: a run takes longer", "other programs first (top lists them)."),
        (250, "took it every 4,000 µs", "other programs first (top lists them)."),
        (
            1e6 / 70,
            "took it every 70 µs",
            "system calls of 0.2 µs take the batch sizes 13, 26, 52, 105.",
        ),
        (1e6, "took it every 1 µs", "No choice of batch sizes avoids that here."),
    ):
        counter = dataclasses.replace(COUNTER, taken_by_others=0.14, gaps_per_s=gaps_per_s)
        found = point("interruptions", tried=dataclasses.replace(GOOD, counter=counter))
        assert seen in found.seen
        assert found.remedy is not None and found.remedy.endswith(remedy)


def test_a_coarse_counter_and_one_that_stands_still() -> None:
    coarse = Counter("cntvct", step=1, overhead=1, frequency_hz=24e6, core_cycle_ticks=0.0)
    found = point("counter step", tried=dataclasses.replace(GOOD, counter=coarse))
    assert found.status == "CAUTION"
    assert "41.7 ns" in found.seen
    still = dataclasses.replace(coarse, step=0)
    assert point("counter", tried=dataclasses.replace(GOOD, counter=still)).status == "FAIL"


def test_the_verdict_names_what_is_wrong() -> None:
    points = [Point("a", "PASS", ""), Point("b", "CAUTION", ""), Point("c", "CAUTION", "")]
    assert verdict(points) == "Fit to measure; 2 cautions: b, c."
    assert verdict([*points, Point("d", "FAIL", "")]) == "Not fit to measure: d."


def test_in_short_it_lists_only_what_does_not_pass() -> None:
    good = [Point("a", "PASS", "seen a"), Point("b", "SKIPPED", "seen b")]
    assert in_short(good).splitlines() == ["Fit to measure.", ALL_POINTS]
    first, *listed, last = in_short([*good, Point("d", "FAIL", "seen d", "mend d")]).splitlines()
    assert (first, last) == ("Not fit to measure: d.", ALL_POINTS)
    assert [line.split() for line in listed] == [["FAIL", "d", "seen", "d"], ["->", "mend", "d"]]


#: What each point says of a machine on which all is wrong that an administrator can change.
WRONG = dataclasses.replace(
    PLAIN,
    cpus_allowed=(1,),
    cpu_quota=0.5,
    memory_limit=300 << 20,
    task_limit=20,
    governor="powersave",
    turbo=True,
    smt=True,
    seccomp="filter",
    load=9.0,
    steal=0.2,
    clock_source="hpet",
)
TRIED = dataclasses.replace(
    GOOD,
    compiler=Outcome(problem="no compiler"),
    counter=dataclasses.replace(COUNTER, step=0, taken_by_others=0.5),
    pinning=Outcome(problem="not permitted"),
    here=Disk("/x", None, "read-only"),
    cache=Disk("/x", None, "read-only"),
)
#: What only the owner of a machine, or its administrator, can do.
NEEDS_RIGHTS = ("docker", "systemd", "kubelet", "cpupower", "sysfs", "noexec", "Mount", "no_turbo")


def test_what_needs_rights_is_said_to_the_administrator_alone() -> None:
    points = examine(WRONG, TRIED)
    by_name = {each.name: each for each in points}
    for name in set(POINTS) - {"counter step", "hypervisor"}:
        assert by_name[name].administrator, name
    for each in points:
        assert not any(word in (each.remedy or "") for word in NEEDS_RIGHTS), each
    text = doctor.for_an_administrator(points, colour=False, columns=80)
    assert "--cpuset-cpus=0,1" in " ".join(text.split())
    assert "Keep runs short" not in text
    assert text.startswith(doctor.OF_AN_ADMINISTRATOR)
    assert text.endswith(f"{doctor.ALL_POINTS}\n{verdict(points)}")


def test_a_machine_with_nothing_to_change_sends_nobody_to_its_administrator() -> None:
    points = examine(PLAIN, GOOD)
    assert doctor.FOR_AN_ADMINISTRATOR not in doctor.as_text(points, False, 80)
    nothing = doctor.for_an_administrator(points, False, 80)
    assert "nothing to change" in nothing and doctor.OF_AN_ADMINISTRATOR not in nothing
    assert doctor.FOR_AN_ADMINISTRATOR in doctor.as_text(examine(WRONG, GOOD), False, 80)


def test_the_page_for_administrators_has_a_row_for_each_point() -> None:
    page = (REPOSITORY / "docs" / "instructors" / "hub-and-laptops.md").read_text(encoding="utf-8")
    table = page.split("| point |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    named = [name.strip() for row in rows for name in row.split(";")]
    assert sorted(named) == sorted([*POINTS, "exchange"])


def test_a_folder_that_lets_no_program_run_is_not_a_missing_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = fitness._run

    def refuse(command: list[str]) -> subprocess.CompletedProcess[str]:
        if len(command) == 1 or command[0].startswith(str(tmp_path)):
            raise PermissionError(13, "Permission denied", command[0])
        return run(command)

    monkeypatch.setattr(fitness, "_run", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tried = dataclasses.replace(GOOD, compiler=fitness.try_compiler())
    found = point("compiler", tried=tried)
    assert found.status == "FAIL"
    assert f"starts no program in the folder {tmp_path}" in found.seen
    assert "TMPDIR" in (found.remedy or "") and "gcc" not in (found.remedy or "")

    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path))
    monkeypatch.setattr(fitness, "try_compiler", lambda: Outcome("gcc"))
    found = point("counter", tried=fitness.try_all(None))
    assert found.status == "FAIL"
    assert f"starts no program in the folder {tmp_path}" in found.seen
    assert "TICKLAB_CACHE" in (found.remedy or "") and "noexec" in (found.administrator or "")


def test_status_is_worded_and_only_then_coloured() -> None:
    points = [Point("governor", "CAUTION", "powersave", "a remedy")]
    plain = doctor.as_text(points, colour=False, columns=80)
    assert plain.startswith("CAUTION  governor  powersave\n")
    assert "-> a remedy" in plain
    assert "\x1b" not in plain
    assert "\x1b[33mCAUTION\x1b[0m" in doctor.as_text(points, colour=True, columns=80)


def test_no_colour_but_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert terminal.in_colour(Terminal())
    assert not terminal.in_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not terminal.in_colour(Terminal())


def run_doctor(
    tmp_path: Path, *words: str, one_cpu: bool = False, **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "labs.commands.cli", "doctor", *words]
    if one_cpu:
        program = "import os, sys; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
        program += "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
        command = [sys.executable, "-c", program, *command[1:]]
    return call(
        *command,
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "TICKLAB_CACHE": str(tmp_path / "cache"),
            **environment,
        },
        timeout=60,
    )


def statuses(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    assert done.stderr == ""
    points = json.loads(done.stdout)
    keys = {"point", "status", "seen", "remedy", "administrator"}
    assert all(set(point) == keys for point in points)
    return {point["point"]: point["status"] for point in points}


def test_the_whole_command(tmp_path: Path) -> None:
    done = run_doctor(tmp_path, "--json")
    found = statuses(done)
    assert list(found) == POINTS
    assert found["compiler"] == found["counter"] == "PASS"
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == [tmp_path / "cache"]


def test_for_a_reader(tmp_path: Path) -> None:
    done = run_doctor(tmp_path)
    lines = done.stdout.splitlines()
    printed = [line for line in lines[: lines.index("")] if not line.startswith(" ")]
    assert len(printed) == len(POINTS)
    assert {line.split()[0] for line in printed} <= {"PASS", "CAUTION", "SKIPPED"}
    assert lines[-1].startswith("Fit to measure")
    assert "\x1b" not in done.stdout


def test_without_a_compiler(tmp_path: Path) -> None:
    done = run_doctor(tmp_path, "--json", CC="no-such-compiler")
    found = statuses(done)
    assert (found["compiler"], found["counter"]) == ("FAIL", "SKIPPED")
    assert done.returncode == 1


def test_a_missing_compiler_is_advised_on_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was seen must not advise what the remedy advises, nor the remedy something else."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    for cc, tried, remedy in (
        ("", f"gcc, cc, clang are not in {tmp_path}", "sudo apt install gcc"),
        ("/nowhere/gcc", "/nowhere/gcc", "Unset CC"),
    ):
        monkeypatch.setenv("CC", cc)
        found = point("compiler", tried=dataclasses.replace(GOOD, compiler=fitness.try_compiler()))
        assert found.status == "FAIL" and found.remedy is not None
        assert tried in found.seen
        assert remedy in found.remedy and "nstall" not in found.seen and "nset" not in found.seen
        assert ("nstall" in found.remedy) is (cc == "")


def test_with_a_compiler_that_does_not_compile(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && echo broken 1.0 || exit 1\n')
    broken.chmod(0o755)
    done = run_doctor(tmp_path, "--json", CC=str(broken))
    assert statuses(done)["compiler"] == "FAIL"
    assert done.returncode == 1


def test_without_a_cache_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run_doctor(tmp_path, "--json", TICKLAB_CACHE=str(tmp_path / "file" / "cache"))
    found = statuses(done)
    assert (found["disk, cache"], found["counter"]) == ("FAIL", "SKIPPED")
    assert "TICKLAB_CACHE" in done.stdout
    assert done.returncode == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this OS has no pinning")
def test_with_one_cpu(tmp_path: Path) -> None:
    done = run_doctor(tmp_path, "--json", one_cpu=True)
    found = statuses(done)
    assert (found["CPUs allowed"], found["pinning"]) == ("CAUTION", "PASS")
    assert done.returncode == 0


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this OS has no pinning")
def test_pinning_to_a_cpu_that_is_not_there() -> None:
    assert fitness.try_pinning((4095,)).problem


def test_in_a_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(gone)
    gone.rmdir()
    tried = fitness.try_all(None)
    assert tried.here is not None and tried.here.problem
    assert tried.counter is not None


def test_the_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "a" / "b"))
    assert paths.cache() == tmp_path / "a" / "b"
    assert list(paths.cache().iterdir()) == []
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "file"))
    with pytest.raises(paths.CacheNotWritable, match="Set TICKLAB_CACHE"):
        paths.cache()


def test_a_machine_without_proc_and_sys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from labs.machine.description import read_machine

    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(doctor, "read_machine", lambda: read_machine(tmp_path, tmp_path, tmp_path))
    assert doctor.run_doctor(argparse.Namespace(json=False, administrator=False)) == 0
    assert "SKIPPED  governor" in capsys.readouterr().out
