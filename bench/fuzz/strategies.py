"""Strategies of Hypothesis: changed seeds, and inputs made up from a grammar.

Those of the grammar have the right form, whatever they say.
"""

from __future__ import annotations

import json
from random import Random

from hypothesis import strategies as st

from bench.fuzz.good_inputs import Submission
from bench.fuzz.tokens import MOST_BYTES, TOKENS, VALUES, meaning_changed
from grader.figures import LABS
from labs.course.figures import FILE_NAME
from labs.recording.file import HEADER

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)

#: What recordings state of a variant, in what they declare and before they did.
_OF_A_VARIANT = (
    *("parts", "baseline", "first", "switches", "estimand", "operation_cycles"),
    *("placement", "other_tasks", "traps", "unfenced", "memory"),
)
_WORDS = ("loop", "tsc", "Linux", "cost", "overhead", "first-time", "one-cpu", "two-cpus")

_SPECS = [spec for specs in LABS.values() for spec in specs]
_NAMES = st.lists(st.sampled_from(["loop", "1", "a-b_c"]), max_size=2)
_NUMBERS = st.one_of(
    st.sampled_from(["0", "1", "2.6e9", "24000000", "-1", "1e308", "nan", "inf", "", "0.7", "x"]),
    st.floats().map(str),
    st.integers().map(str),
)


@st.composite
def recordings(draw: st.DrawFn) -> tuple[str, bytes]:
    """The lab and the bytes of a recording that might be of it: well-formed, whatever it says."""
    spec = draw(st.sampled_from([spec for spec in _SPECS if spec.variants]))
    # Often what the other figures of the lab need as well, so that relations have their operands.
    of_same_kernel = [each for each in LABS[spec.lab] if each.kernel == spec.kernel]
    wanted = draw(st.sampled_from([[spec], of_same_kernel, of_same_kernel]))
    variants = [name for each in wanted for name in each.variants]
    variants = list(dict.fromkeys([*variants, *draw(_NAMES)]))
    keys = ["counter", "counter.step", "counter.frequency_hz", "counter.overhead", "os", "flags"]
    keys += ["core_cycle_ticks", "cpu.asked", "cpu.before", "claimed.switches", "machine.cpu"]
    keys += ["task.main.voluntary_switches", "task.peers.involuntary_switches"]
    for name in variants:
        keys += [f"clock.{name}.frequency_hz", f"clock.{name}.step", f"clock.{name}.name"]
        keys += [f"variant.{name}.{what}" for what in _OF_A_VARIANT]
    stated = draw(st.dictionaries(st.sampled_from(keys), _NUMBERS | st.sampled_from(_WORDS)))
    if draw(st.integers(0, 5)) < 5:  # the clock is described: else nothing is judged
        for name in variants:
            stated |= {f"clock.{name}.frequency_hz": "2.6e9", f"clock.{name}.step": "2"}
    processes = draw(st.sampled_from([0, 1, 3, 5, 6]))
    sizes = draw(
        st.sampled_from([[0, 64, 128, 256, 512], [256, 512], [1]])
        | st.lists(st.integers(0, 10**6), min_size=1, max_size=5, unique=True)
    )
    ticks = draw(st.sampled_from([(0, 0), (0, 100), (40, 60), (10**17, 10**18 - 1)]))
    cost = draw(st.sampled_from([0, 0, 1, 300]))  # above 0: most samples lie on a line
    random = Random(draw(st.integers(0, 2**32)))
    rows = []
    for place in range(draw(st.sampled_from([400, 150, 10, 1, 0]))):
        size = random.choice(sizes)
        length = min(random.randint(*ticks) + cost * size, 10**18 - 1)
        process = random.randrange(max(processes, 1))
        rows.append(f"{random.choice(variants)},{process},{place - 3},{size},{length}")
    head = ["# ticklab recording: 1", f"# kernel: {spec.kernel}"]
    head += [f"# {key}: {value}" for key, value in stated.items()]
    head += [f"# process.{number}: {{}}" for number in range(processes)]
    return spec.lab, ("\n".join([*head, HEADER, *rows]) + "\n").encode()


_VALUES = st.one_of(
    st.floats(0.1, 1e6),
    st.floats(0.1, 1e6),
    st.integers(1, 4),
    st.integers(1, 4),
    st.floats(),
    st.integers(),
    st.sampled_from(VALUES),
)


@st.composite
def figure_files(draw: st.DrawFn, lab: str) -> bytes:
    """A figures.json of `lab` whose figures all name one recording; most are figures."""
    stated = {
        spec.id: {
            "value": draw(_VALUES),
            "unit": draw(
                st.sampled_from([spec.unit] * 5 + ["ns", "us", "ticks", "cycles", "x", ""])
            ),
            "recording": "recordings/run.csv",
        }
        for spec in LABS[lab]
        if draw(st.integers(0, 5)) < 5
    }
    return json.dumps(stated).encode()


@st.composite
def submissions(draw: st.DrawFn) -> bytes:
    """A lab folder with a recording that might be of that lab, and figures that name it."""
    lab, recording = draw(recordings())
    figures = draw(figure_files(lab))
    return Submission(lab, ((FILE_NAME, figures), ("recordings/run.csv", recording))).as_bytes()


@st.composite
def changed(draw: st.DrawFn, seeds: tuple[bytes, ...]) -> bytes:
    """One of the seeds after a few changes: at a value, or anywhere."""
    content = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            content = meaning_changed(content, draw(st.randoms(use_true_random=False)))
            continue
        begin = draw(st.integers(0, len(content)))
        end = begin + draw(st.sampled_from([0, 0, 1, 8, 200, MOST_BYTES]))
        piece = draw(st.sampled_from(TOKENS) | st.binary(max_size=4) | st.just(content[begin:end]))
        other = draw(st.sampled_from(seeds))
        where = draw(st.integers(0, len(other)))
        rest = draw(st.sampled_from([content[end:], content[end:], content[begin:], other[where:]]))
        content = content[:begin] + piece * draw(st.sampled_from([1, 1, 1, 50])) + rest
    return content[:MOST_BYTES]
