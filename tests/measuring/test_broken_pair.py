"""A broken C kernel beside its repaired twin: what is run, saved and shown, and what is refused."""

from __future__ import annotations

import dataclasses
import html
import json
import signal
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType

import psutil
import pytest

from grader.evidence.sources import source_of
from labs.commands import cli
from labs.commands import measure as measure_command
from labs.messages import Refused
from labs.notebook.broken_pair import Pair, plans
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.recording import file
from labs.results import result
from labs.results.remarks import of_results
from labs.results.result import result_of
from labs.run import broken, measure
from labs.terminal import typeset
from support import simulate
from support.declarations import as_declared
from support.paths import REPOSITORY
from support.simulate import Machine

NAME = "cached_getpid"

#: A C kernel that no machine can run.
IMPOSSIBLE = """/*
 * Wrong on purpose: it asks for what no machine has.
 * Repaired: system_call --variant getppid
 */
#define _GNU_SOURCE
#include "../harness.h"

int main(int argc, char **argv)
{
    /* measured region begins */
    static const struct variant variants[] = {{.name = "getppid", .missing = "no machine has it"}};
    /* measured region ends */
    static const long batches[] = {1};
    static const struct c_kernel kernel = {
        .name = "system_call", .about = "nothing", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .batches_fixed = 1};
    return measure(&kernel, argc, argv);
}
"""


@pytest.fixture
def impossible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "impossible.c").write_text(IMPOSSIBLE)
    monkeypatch.setattr(broken, "folder", lambda: tmp_path / "broken")
    return "impossible"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Session, Pair]:
    lab = Session("03-system-call", tmp_path_factory.mktemp("03-system-call"))
    return lab, lab.broken(NAME)


def run_of(machine: Machine, kernel: str = "timer_overhead", **conditions: str) -> Run:
    """A simulated run, saved nowhere."""
    made = simulate.run(machine, 1)
    stated = MappingProxyType({**made.conditions, **conditions})
    return Run.of(as_declared(dataclasses.replace(made, conditions=stated), kernel))


def pair_of(wrong: Run, right: Run) -> Pair:
    return Pair(broken.find(NAME), wrong, right)


def test_both_are_run_saved_and_kept(shown: tuple[Session, Pair]) -> None:
    lab, pair = shown
    for run, name in ((pair.broken, f"broken-{NAME}"), (pair.repaired, f"repaired-{NAME}")):
        assert run.recording_path == f"recordings/{name}.csv"
        assert lab.runs[name] is run
        assert len(file.read(lab.folder / run.recording_path)) == len(run.recording)
        assert run.plot().image
    assert pair.repaired.value > pair.naive_value
    # Not the baseline, which is measured along with it.
    assert pair.repaired.variant == pair.broken.variant == "getppid"


def test_both_advise_with_arguments_of_python(shown: tuple[Session, Pair]) -> None:
    _, pair = shown
    assert pair.broken.python and pair.repaired.python


def test_the_c_of_the_broken_one_is_saved_and_known_to_the_grader(
    shown: tuple[Session, Pair],
) -> None:
    lab, pair = shown
    saved = lab.folder / "recordings" / f"broken-{NAME}.c"
    assert saved.read_text() == pair.kernel.source
    assert not saved.with_name(f"repaired-{NAME}.c").exists()
    assert source_of(pair.broken.recording) == pair.kernel.source


def test_a_recording_names_no_path_of_this_machine(shown: tuple[Session, Pair]) -> None:
    lab, pair = shown
    assert pair.broken.recording_path is not None
    text = (lab.folder / pair.broken.recording_path).read_text()
    assert f"labs measure recordings/broken-{NAME}.c " in text
    assert str(REPOSITORY) not in text
    assert str(lab.folder) not in text


def test_what_is_shown_says_the_mistake_both_codes_both_figures_and_the_warnings(
    shown: tuple[Session, Pair],
) -> None:
    pair = shown[1]
    for text in (repr(pair), pair._repr_html_()):
        assert pair.kernel.mistake in text
        assert "getpid_of_library();" in text
        assert "raw_call(SYS_getppid" in text, "the operation that the twin's variant stands for"
        assert text.count("The broken C, which its author calls system_call getppid: ") == 1
        for run in (pair.broken, pair.repaired):
            assert typeset(run.result().value_as_text()) in typeset(text)
            assert run.recording_path is not None and run.recording_path in text
            said = of_results((result_of(run.recording, run.variant, run.unit),))
            # The first warning is a line that unfolds.
            facts = [each.partition(" Try: ")[0] for each in said.warnings]
            parts = [part for each in facts for part in each.partition("; ")[::2]]
            for words in (*(part[1:] for part in parts), said.conditions):
                assert words in html.unescape(text)
        assert "times too " in text


def test_a_page_names_only_the_variant_that_it_shows(shown: tuple[Session, Pair]) -> None:
    page = shown[1].as_html()
    assert "labs measure system_call --variant getppid<" in page
    assert "getppid,invalid" not in page, "the floor is the answer to a question of lab 03"
    assert "labs measure system_call --variant getppid,invalid\n" in shown[1].as_text()


def test_the_halves_stand_side_by_side_and_fold_where_it_is_narrow(
    shown: tuple[Session, Pair],
) -> None:
    page = shown[1].as_html()
    assert "repeat(auto-fit,minmax(min(100%,28em),1fr))" in page
    assert page.count('role="group"') == 2
    assert "overflow-x" not in page and page.count("white-space:pre-wrap") == 2, "no scrolling"


def test_code_is_escaped(tmp_path: Path) -> None:
    source = '/* measured region begins */\nif (a < b && c) "</pre>";\n/* measured region ends */'
    (tmp_path / "odd.c").write_text(source)
    kernel = dataclasses.replace(broken.find(NAME), path=tmp_path / "odd.c")
    page = Pair(kernel, run_of(Machine()), run_of(Machine())).as_html()
    assert "a &lt; b &amp;&amp; c" in page
    assert page.count("</pre>") == 2


def test_the_difference_is_told_the_right_way_round() -> None:
    dear, cheap = run_of(Machine(overhead=500.0)), run_of(Machine(overhead=50.0))
    assert "The broken figure is 10 times too small." in pair_of(cheap, dear).difference()
    assert "The broken figure is 10 times too large." in pair_of(dear, cheap).difference()
    assert "are alike" in pair_of(cheap, cheap).difference()


def test_without_a_figure_the_mean_of_all_samples_is_what_would_be_reported() -> None:
    bent = run_of(Machine(hidden=200.0), kernel="system_call")
    assert bent.result().estimate is None
    pair = pair_of(bent, run_of(Machine(), kernel="system_call"))
    mean = result.mean_of_all(bent.recording, bent.variant, "ns")
    assert pair.naive_value == pytest.approx(mean)
    mean_of_all = "Its author reports the mean of all its samples, with nothing subtracted: "
    assert mean_of_all in pair.as_text()
    assert "gives no figure here" in pair_of(pair.repaired, bent).difference()


def test_a_broken_run_is_not_to_be_mended() -> None:
    """It is wrong on purpose: why there is no figure is said, and no advice."""
    short = run_of(Machine(batches=(64,)), kernel="system_call")
    why = short.result().why_unnamed
    assert "measure with" in why
    shown = pair_of(short, run_of(Machine(), kernel="system_call")).as_text()
    assert "a line needs samples of two batch sizes above 0, these have 1.\n" in shown
    assert "measure with" not in shown and "Its author reports" in shown


def test_a_cell_can_only_run_again_and_says_once_why_there_is_no_figure() -> None:
    bent = run_of(Machine(hidden=200.0), kernel="system_call")
    pair = pair_of(bent, run_of(Machine(), kernel="system_call"))
    assert "Try: go on with the value that its author reports." in pair.as_html()
    assert "Try: run the cell again." in pair_of(pair.repaired, bent).as_html()
    assert "--batch" not in pair.as_html()
    for shown in (pair.as_html(), pair.as_text()):
        assert shown.count("off the line") == 1
    assert "--batch" in pair.as_text(), "the command has options"


def test_switches_are_told_where_some_are_claimed() -> None:
    counts = {f"task.{t}.{k}_switches": "0" for t in ("main", "peers") for k in ("voluntary",)}
    none = run_of(Machine(), **{"claimed.switches": "0", **counts})
    claim = {"claimed.switches": "400", f"variant.{none.variant}.switches": "2"}
    some = run_of(Machine(), **{**claim, **counts})
    printed = pair_of(some, none).as_text()  # of ten processes
    assert printed.count("Switches: ") == 1
    assert "Switches: 4,000 claimed, 0 counted by the OS." in printed


def test_an_unknown_one_is_refused_with_one_like_it(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="did you mean cached_getpid"):
        Session("03-system-call", tmp_path).broken("cached_getpit")


def test_what_this_machine_cannot_run_is_refused(impossible: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"cannot make this measurement(.|\n)*no machine has it"):
        Session("03-system-call", tmp_path).broken(impossible)


def test_a_broken_one_is_drawn_with_the_prediction_of_what_it_believes_to_be(
    tmp_path: Path,
) -> None:
    lab = Session("03-system-call", tmp_path)
    lab.predict("system-call-getppid", 150, "ns")
    wrong, _ = plans(broken.find(NAME))
    made = measure.measure_now(dataclasses.replace(wrong, samples=200, processes=2))
    assert "Your prediction, 150" in lab.reduce(wrong, made, None).plot().meaning


# -------------------------------------------------------------------------------- the command


def test_the_list_has_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["broken"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(listed) == list(broken.names())
    assert cli.main(["broken", "--json"]) == 0
    stated = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in stated] == list(broken.names())
    assert all(each["mistake"] and each["repaired"] for each in stated)


def test_the_command_prints_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["broken", NAME]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(("Broken", "Here the two")) and "\nWrong on purpose: " in printed
    assert "\nBroken: cached_getpid.c\n" in printed
    assert "\nRepaired: labs measure system_call --variant getppid,invalid\n" in printed


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["broken", NAME, "--json", "--unit", "us"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["name"], printed["unit"]) == (NAME, "us")
    assert printed["believed"] < printed["repaired"]["value"]
    assert {"conditions", "warnings", "interval"} <= set(printed["repaired"])


def test_a_wrong_word_ends_with_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["nowhere"], [NAME, "--unit", "years"]):
        assert cli.main(["broken", *words]) == measure_command.USAGE
        said = capsys.readouterr()
        assert said.out == "" and said.err.startswith("labs broken: ") and said.err.count("\n") == 1


def test_what_this_machine_cannot_run_ends_with_status_3(
    impossible: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["broken", impossible]) == measure_command.IMPOSSIBLE
    assert "no machine has it" in capsys.readouterr().err


def is_named(process: psutil.Process, name: str) -> bool:
    try:
        return name in process.name()
    except psutil.NoSuchProcess:  # the compiler has many children, each for a moment
        return False


def test_control_c_ends_it_and_its_processes(tmp_path: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-m", "labs.commands.cli", "broken", NAME],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    me = psutil.Process(run.pid)
    seen: list[psutil.Process] = []
    while not seen:
        assert run.poll() is None, "it has ended before it was interrupted"
        seen = [child for child in me.children(recursive=True) if is_named(child, NAME)]
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=30)
    assert (run.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "interrupted"
    # Killed is not yet gone: the OS takes a moment to end it.
    _, alive = psutil.wait_procs(seen, timeout=10)
    assert not alive
