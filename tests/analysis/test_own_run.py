"""A figure comes from its own run: nothing that this user, machine or environment keeps decides."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labs.recording.file import read
from labs.results.result import result_of
from labs.run.measure import Plan, measure_now
from support.paths import FIXTURES

HONEST = FIXTURES / "honest" / "03-system-call"
#: What kits of the past kept in a user's cache, and what nobody keeps.
KEPT = ("widest-cores.json", "core-widths.json", "clock-speeds.json", "speeds.json", "runs.json")
#: Prints the results and the verdicts of a lab folder, and each file outside the code and the
#: folder that was opened meanwhile.
JUDGED = """
import os, sys
opened = []
sys.addaudithook(lambda name, args: name == "open" and opened.append(str(args[0])))
from pathlib import Path
import grader.judging.lab_folder as lab_folder
from labs.terminal import without_infinities
from labs.recording.file import read
from labs.results.result import result_of
import json
folder = Path(sys.argv[1])
for verdict in lab_folder.check_folder(folder, folder.name):
    print(verdict)
for saved in sorted(folder.glob("recordings/*.csv")):
    recording = read(saved)
    for variant in recording.variants:
        stated = result_of(recording, variant).as_json()
        print(json.dumps(without_infinities(stated), sort_keys=True, allow_nan=False))
kept = os.environ["HOME"]
print([each for each in opened if each.startswith(kept)])
"""


def judged(folder: Path, home: Path, **environment: str) -> bytes:
    """What a process of its own says of `folder`, whose user has the folder `home`."""
    root = Path(__file__).parents[2]
    stated = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(root),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(home),
        "TICKLAB_CACHE": str(home / "cache"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-c", JUDGED, str(folder)],
        env=stated, capture_output=True, check=False, cwd=root,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def fill(home: Path, text: str) -> None:
    """Every file that a kit of the past read, in every place where it may have looked."""
    for place in ("cache", ".cache/ticklab", ".config/ticklab", ".local/share/ticklab", ".ticklab"):
        (home / place).mkdir(parents=True)
        for name in KEPT:
            (home / place / name).write_text(text)


def absurd() -> str:
    """The widest core as kits of the past kept it, for the machines of the fixtures."""
    recording = read(next(iter(sorted((HONEST / "recordings").glob("*.csv")))))
    cpu, counter = recording.conditions.get("machine.cpu", ""), recording.condition("counter")[0]
    widths = {f"{of}x86_64 {cpu} {counter}": 5.33 for of in ("", "core_stores ")}
    return json.dumps({**widths, "core_ghz": 9.9})


def test_results_and_verdicts_are_the_same_bytes_whatever_a_user_keeps(tmp_path: Path) -> None:
    folder = tmp_path / "work" / HONEST.name
    shutil.copytree(HONEST, folder)
    clean, full = tmp_path / "clean", tmp_path / "full"
    clean.mkdir()
    fill(full, absurd())
    before = judged(folder, clean)
    assert b"passed" in before and before.endswith(b"[]\n"), "a file of the user was opened"
    odd = {"TICKLAB_BEST": "5.33", "CORE_WIDTH": "99", "OMP_NUM_THREADS": "1"}
    assert judged(folder, full, **odd) == before


def test_a_run_keeps_nothing_of_itself_and_states_nothing_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, json.dumps({"x86_64": 5.33}))
    cache = tmp_path / "cache"
    monkeypatch.setenv("TICKLAB_CACHE", str(cache))
    before = {each.name: each.read_bytes() for each in cache.iterdir()}
    run = measure_now(Plan("timer_overhead", ("fenced",), samples=600, processes=6, warmup=10))
    assert not [key for key in run.conditions if key.endswith(".best")]
    assert {name: (cache / name).read_bytes() for name in before} == before
    left = {each.name for each in cache.iterdir()} - set(before)
    assert all((cache / name).is_dir() or "." not in name for name in left), "only programs"
    assert result_of(run, "fenced").estimate is not None
