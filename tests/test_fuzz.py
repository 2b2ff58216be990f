"""The readers stand whatever is handed in: made up from a grammar, and changed from what is good.

Here are a few thousand inputs, the same in every run. `python -m bench fuzz` makes 100,000.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench import fuzz, fuzz_checks, fuzz_seeds
from bench.fuzz_guide import Edges
from bench.fuzz_mutations import TOKENS, VALUES, Mutator
from bench.fuzz_seeds import Submission
from grader.figures import LABS
from labs.figures import FILE_NAME
from labs.recording import HEADER

SAME_EVERY_TIME = settings(
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    max_examples=250,
)

SPECS = [spec for specs in LABS.values() for spec in specs]
NUMBERS = st.one_of(
    st.sampled_from(["0", "1", "2.6e9", "24000000", "-1", "1e308", "nan", "inf", "", "0.7", "x"]),
    st.floats().map(str),
    st.integers().map(str),
)


@st.composite
def recordings(draw: st.DrawFn) -> tuple[str, bytes]:
    """The lab and the bytes of a recording that might be of it: well-formed, whatever it says."""
    spec = draw(st.sampled_from([spec for spec in SPECS if spec.variants]))
    variants = [
        *spec.variants,
        *draw(st.lists(st.sampled_from(["loop", "1", "a-b_c"]), max_size=2)),
    ]
    keys = ["counter", "counter.step", "counter.frequency_hz", "counter.overhead", "os", "flags"]
    keys += ["core_cycle_ticks", "cpu.asked", "cpu.before", "claimed.switches", "machine.cpu"]
    keys += ["task.main.voluntary_switches", "task.peers.involuntary_switches"]
    for name in dict.fromkeys(variants):
        keys += [f"clock.{name}.frequency_hz", f"clock.{name}.step", f"clock.{name}.name"]
        keys += [f"variant.{name}.{what}" for what in ("parts", "baseline", "first", "switches")]
    stated = draw(
        st.dictionaries(st.sampled_from(keys), NUMBERS | st.sampled_from(["loop", "tsc", "Linux"]))
    )
    if draw(st.booleans()):  # most of the time the clock is described: else nothing is judged
        for name in variants:
            stated |= {f"clock.{name}.frequency_hz": "2.6e9", f"clock.{name}.step": "2"}
    processes = draw(st.integers(0, 6))
    sizes = draw(st.lists(st.integers(0, 10**6), min_size=1, max_size=5, unique=True))
    ticks = draw(st.sampled_from([(0, 0), (0, 100), (40, 60), (10**17, 10**18 - 1)]))
    random = draw(st.randoms(use_true_random=False))
    rows = [
        f"{random.choice(variants)},{random.randrange(max(processes, 1))},{place - 3},"
        f"{random.choice(sizes)},{random.randint(*ticks)}"
        for place in range(draw(st.sampled_from([0, 1, 10, 150])))
    ]
    head = ["# ticklab recording: 1", f"# kernel: {spec.kernel}"]
    head += [f"# {key}: {value}" for key, value in stated.items()]
    head += [f"# process.{number}: {{}}" for number in range(processes)]
    return spec.lab, ("\n".join([*head, HEADER, *rows]) + "\n").encode()


def figure_files(lab: str) -> st.SearchStrategy[bytes]:
    """A figures.json of `lab` whose figures all name one recording, or something else."""
    ids = [spec.id for spec in LABS[lab]]
    entry = st.fixed_dictionaries(
        {
            "value": st.floats() | st.integers() | st.integers(1, 4) | st.sampled_from(VALUES),
            "unit": st.sampled_from(["ns", "us", "ticks", "cycles", "times", "choice", "x", ""]),
            "recording": st.just("recordings/run.csv"),
        }
    )
    each = st.dictionaries(st.sampled_from(ids), entry, min_size=1)
    return each.map(lambda stated: json.dumps(stated).encode())


@SAME_EVERY_TIME
@given(recordings())
def test_any_recording_of_the_right_form_is_read_or_told_why_not(made: tuple[str, bytes]) -> None:
    fuzz_checks.recording(made[1])


@SAME_EVERY_TIME
@given(st.binary(max_size=400) | st.text().map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_no_recording_and_no_figures_and_are_told_so(content: bytes) -> None:
    fuzz_checks.recording(content)
    fuzz_checks.figures_file(content)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


@SAME_EVERY_TIME
@given(st.dictionaries(st.text(max_size=70), JSON) | JSON)
def test_any_json_is_figures_or_told_why_not(stated: object) -> None:
    fuzz_checks.figures_file(json.dumps(stated).encode())


@SAME_EVERY_TIME
@given(st.data())
def test_any_submission_of_the_right_form_is_graded(data: st.DataObject) -> None:
    lab, recording = data.draw(recordings())
    figures = data.draw(figure_files(lab))
    fuzz_checks.submission(
        Submission(lab, ((FILE_NAME, figures), ("recordings/run.csv", recording)))
    )


@pytest.mark.parametrize(
    ("kind", "count"), [("recordings", 1500), ("figures", 600), ("submissions", 250)]
)
def test_changed_submissions_are_read_graded_or_told_why_not(kind: str, count: int) -> None:
    outcome = fuzz.part(kind, 1, count)
    assert outcome.wrong == []
    assert (outcome.inputs, outcome.edges > 50) == (count, True)


def test_large_inputs_are_bounded() -> None:
    outcome = fuzz.large()
    assert outcome.wrong == []
    assert outcome.inputs > 25


def test_the_same_seed_changes_the_same_way() -> None:
    seeds = fuzz_seeds.recordings()
    first, again, other = (Mutator(seed, seeds) for seed in (7, 7, 8))
    for content in seeds[:20]:
        changed = first.changed(content)
        assert changed == again.changed(content)
        assert len(changed) <= fuzz_seeds.FIXTURES.stat().st_size + 10**6
    assert [other.changed(each) for each in seeds[:20]] != [first.changed(each) for each in seeds]
    assert len(set(TOKENS)) == len(TOKENS)


def test_what_reaches_new_code_is_seen() -> None:
    edges = Edges()
    good = fuzz_seeds.recordings()[0]
    assert edges.of(lambda: fuzz_checks.recording(good)) > 20
    assert edges.of(lambda: fuzz_checks.recording(good)) == 0
    assert edges.of(lambda: fuzz_checks.recording(good[: len(good) // 2] + b"\xff")) > 0


@pytest.mark.parametrize(
    "process",
    ['{"a": "\\ud800"}', '{"\\udfff": "b"}', '{"a": 1}', "[]", '{"a": "b"'],
    ids=["half a character", "in a name", "a number", "a list", "cut off"],
)
def test_conditions_of_a_process_that_cannot_be_kept(process: str) -> None:
    fuzz_checks.recording(
        f"# ticklab recording: 1\n# kernel: k\n# process.0: {process}\n{HEADER}\n".encode()
    )


def test_half_a_character_in_figures_is_told_and_can_be_written(tmp_path: Path) -> None:
    entry = {"value": 1, "unit": "\ud800", "recording": None, "when": "\udfff"}
    fuzz_checks.figures_file(json.dumps({"a": entry, "\ud800": entry}).encode())
    fuzz_checks.submission(
        Submission(
            "01-timer-overhead",
            ((FILE_NAME, json.dumps({"timer-step": entry, "\ud800": 1}).encode()),),
        )
    )
