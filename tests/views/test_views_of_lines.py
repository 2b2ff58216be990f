"""Views that show a line as numbers, machine code, and system calls: what they say is so."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import pytest

from labs import views
from labs.html import Table
from labs.messages import Message, Refused
from labs.notebook.run import Run
from labs.recording import file
from labs.views.other_tools import calls_of_summary, parted
from testing.paths import FIXTURES
from testing.submitted_figures import Clocked, recording

SAVED = FIXTURES / "honest" / "01-timer-overhead" / "recordings"


def saved(name: str) -> Run:
    return Run.of(file.read(SAVED / f"{name}.csv"))


@pytest.fixture(scope="module")
def fenced() -> Run:
    return saved("fenced")


def numbers(table: Table, column: int) -> list[float]:
    return [float(row[column].rstrip(" %")) for row in table.rows]


def test_mean_samples_are_those_of_the_line_in_the_unit_of_the_run(fenced: Run) -> None:
    means = views.mean_samples(fenced)
    assert list(means) == [0, 64, 128, 256, 512]
    line = fenced.result().line
    assert line is not None
    per_ns = line.clock.ticks_in("ns")
    assert means[512] == pytest.approx(line.location[-1] / per_ns)
    ticks = views.mean_samples(fenced.in_unit("ticks"))
    assert ticks[64] == pytest.approx(means[64] * per_ns)


def test_a_right_constant_leaves_nothing_missing_and_no_constant_repairs_an_early_clock(
    fenced: Run,
) -> None:
    overhead = fenced.in_unit("cycles").value
    assert max(map(abs, numbers(views.after_subtracting(fenced, overhead), 4))) <= 3
    early = saved("naive")
    for constant in (28.5, views.mean_samples(early.in_unit("cycles"))[0], 0.0):
        missing = numbers(views.after_subtracting(early, constant), 4)
        assert max(missing) - min(missing) > 20


@pytest.mark.parametrize(
    ("slip", "off"), [((0.0, 0.0), 1.0), ((30.0, 0.0), 70.0), ((0.0, 1.0), 90.0)]
)
def test_a_slip_in_the_line_is_seen_at_the_points(
    slip: tuple[float, float], off: float, fenced: Run
) -> None:
    means = views.mean_samples(fenced)
    cost = (means[512] - means[64]) / (512 - 64)
    table = views.your_line(fenced, means[64] - 64 * cost + slip[0], cost + slip[1])
    worst = max(map(abs, numbers(table, 3)))
    assert worst <= off if slip == (0.0, 0.0) else worst >= off
    assert "the kit's line through all points begins at" in table.caption


def test_the_line_of_a_clock_that_is_early_is_not_praised() -> None:
    early = saved("naive")
    assert "the kit draws no line" in views.your_line(early, 1.0, 1.0).caption


@pytest.mark.parametrize("step", [2, 20])
def test_the_plot_and_the_warning_say_the_same_of_the_point_farthest_off(step: int) -> None:
    """Also where a step of the clock is longer than a mean sample."""
    bent = Clocked(1.0, 0.05, step=step, straight=False)
    run = Run.of(recording({"unfenced": bent}))
    share = run.warnings[0].symptom.partition(" off the line")[0].rpartition(" lies ")[2]
    assert share.endswith("%") and f"the mean is {share} off the line" in run.plot_line().meaning


@pytest.mark.parametrize("number", ["1", None, True, float("nan"), float("inf")])
def test_what_is_no_number_is_refused(number: object, fenced: Run) -> None:
    with pytest.raises(Refused, match="must be a number"):
        views.after_subtracting(fenced, number)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="must be a number"):
        views.your_line(fenced, 1.0, number)  # type: ignore[arg-type]


ADDITIONS = "   9: add %rax,%rax\n" * 20


def test_code_is_parted_at_the_additions() -> None:
    before, work, after = parted(
        f"   1: rdtsc\n   2: add %rbx,%rax\n   3: mov\n{ADDITIONS}   4: ret"
    )
    assert before.count("\n") == 3
    assert work == ADDITIONS
    assert after.strip() == "4: ret"
    assert parted("   1: ret")[1] == ""


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump shows machine code")
def test_an_instruction_is_counted_before_and_after_the_additions() -> None:
    both = ["unfenced_64", "fenced_64"]
    shown = views.instruction("timer_overhead", both, "add")
    assert shown.excerpt.count("... the additions ...") == 2
    assert all("nowhere" in sentence for sentence in shown.sentences), "the row itself is left out"
    shown = views.instruction("timer_overhead", both, " RET ")
    assert [sentence.split(",")[0] for sentence in shown.sentences] == [f"In {n}" for n in both]
    assert all("ret stands behind the second reading" in sentence for sentence in shown.sentences)
    if platform.machine() == "x86_64":
        (bare, fenced) = views.instruction("timer_overhead", both, "lfence").sentences
        assert bare == "In unfenced_64, lfence occurs nowhere."
        assert fenced.endswith(
            "stands behind the second reading, rdtscp, which cannot wait for it."
        )
        fenced = views.instruction("timer_overhead", both, "rdtscp").sentences[1]
        assert fenced == "In fenced_64, rdtscp occurs once after the additions."
    (unknown,) = views.instruction("timer_overhead", ["no_such"], "ret").sentences
    assert "no_such" in unknown
    for wrong in ("", "two words", "1"):
        with pytest.raises(Refused, match="not the name of an instruction"):
            views.instruction("timer_overhead", both, wrong)


def test_the_summary_of_strace_is_added_up() -> None:
    summary = (
        "% time     seconds  usecs/call     calls    errors syscall\n"
        "------ ----------- ----------- --------- --------- ------------------\n"
        " 98.59    0.008056           3      2401           clock_gettime\n"
        "  0.09    0.000007           7         1         1 ioctl\n"
        "------ ----------- ----------- --------- --------- ------------------\n"
        "100.00    0.008171           3      2402         1 total\n"
    )
    assert calls_of_summary(summary) == 2402
    assert calls_of_summary("") == 0


def test_each_sample_of_a_clock_that_is_a_system_call_makes_two_calls() -> None:
    # How often the step of a clock is read depends on time, so a few calls more or less remain.
    found = views.system_calls("timer_overhead", "process-cpu, fenced", "clock_gettime", 400)
    if isinstance(found, Message):
        pytest.skip(f"strace does not count here: {found.sentences}")
    assert [float(row[3]) for row in found.rows] == pytest.approx([2, 0], abs=0.1)


def test_where_strace_cannot_count_a_note_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("strace") is not None:
        with pytest.raises(Refused):
            views.system_calls("timer_overhead", "no-such-clock")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(
        "labs.c_kernels.toolchain.build", lambda source: type("B", (), {"path": source})
    )
    missing = views.system_calls("timer_overhead", "fenced")
    assert isinstance(missing, Message) and "not installed" in missing.sentences[0]
    with pytest.raises(Refused):
        views.system_calls("no_such_kernel", "fenced")
