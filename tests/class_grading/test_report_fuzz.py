"""Whatever files hold, one submission ends no report, and a bad data set no notebook."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from grader.class_grading.class_report import page_of
from grader.class_grading.graded_class import GradedClass, read_graded
from labs.course import class_figures
from labs.course.class_figures import BadClassFigures
from support.graded_course import LAB, GradedCourse, verdict

FENCED = "timer-overhead-fenced"

GOOD = """figure,kernel,variant,flags,machine,unit,count,quarter,median,three_quarters
timer-overhead-fenced,timer_overhead,fenced,,"x86-64, AMD, virtual",ns,40,10,20,30
"""

texts = st.text(max_size=30) | st.sampled_from(["\ud800", "</style><script>", "`", "a/b.csv: c"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def notebooks(draw: st.DrawFn) -> bytes:
    """A notebook of ours in which any entry of the verdict may be anything."""
    stated = verdict(FENCED).as_json()
    stated |= draw(st.dictionaries(st.sampled_from(sorted(stated)), values, max_size=2))
    marks = {"ticklab": stated, "nbgrader": {"grade_id": stated["figure"]}}
    notes = draw(st.lists(texts, max_size=3) | values)
    whole = {"cells": [{"metadata": marks}], "metadata": {"ticklab": {"set_aside": notes}}}
    whole |= draw(st.just({}) | st.dictionaries(st.sampled_from(sorted(whole)), values, max_size=1))
    return json.dumps(whole).encode()


amounts = st.dictionaries(
    st.sampled_from([FENCED, "timer-step", "x"]),
    values
    | st.fixed_dictionaries(
        {"value": st.floats() | st.integers(), "unit": st.sampled_from(["ns", "s", "ticks", "x"])}
    ),
)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(
    notebook=notebooks() | st.binary(max_size=60),
    figures=amounts,
    predictions=st.dictionaries(st.just(FENCED), st.lists(values, max_size=2) | values),
    head=st.binary(max_size=200),
)
def test_no_submission_ends_a_report(
    notebook: bytes, figures: dict[str, Any], predictions: dict[str, Any], head: bytes
) -> None:
    with tempfile.TemporaryDirectory() as place:
        course = GradedCourse(Path(place))
        folder = course.add("ada", [verdict(FENCED)])
        (folder / f"{LAB}.ipynb").write_bytes(notebook)
        (folder / "figures.json").write_text(json.dumps(figures))
        (folder / "predictions.json").write_text(json.dumps(predictions))
        (folder / "recordings" / "run.csv").write_bytes(head)
        found = read_graded("ada", folder, course.folder / "autograded")
    read = () if found.trouble else (found,)
    unread = (found,) if found.trouble else ()
    for pseudonyms in (None, {"ada": "b2c3d"}):
        page = page_of(GradedClass(LAB, read, unread), pseudonyms)
        assert page.encode()
        assert "<script" not in page


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(place=st.integers(0, 200), removed=st.integers(0, 20), added=st.binary(max_size=8) | texts)
def test_a_changed_data_set_is_read_or_refused(
    place: int, removed: int, added: bytes | str
) -> None:
    text = GOOD.encode()
    new = added if isinstance(added, bytes) else added.encode("utf-8", "surrogatepass")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "class.csv"
        file.write_bytes(text[:place] + new + text[place + removed :])
        try:
            rows = class_figures.read_class(file)
        except BadClassFigures:
            return
    for each in rows:
        assert each.quarter <= each.median <= each.three_quarters
