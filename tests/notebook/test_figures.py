"""What a student hands in and reads in a notebook."""

from __future__ import annotations

import inspect
import json
import math
import operator
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import IPython.display
import pytest

from labs import messages, paths
from labs.c_kernels import toolchain
from labs.course import figures, guide
from labs.course.figures import BadFigure, BadFigures, Figure
from labs.html import Table
from labs.messages import Refused
from labs.notebook import measuring, run_errors
from labs.notebook.measuring import ProgressLine
from labs.notebook.predicting import PredictionForm
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.recording import file
from labs.recording.file import Recording, read
from labs.run.c_process import RunFailed
from labs.run.measure import Progress
from labs.run.plan import Plan
from labs.terminal import typeset
from support.paths import FIXTURES, REPOSITORY
from support.pressed_panel import press, set_to
from support.short_runs import LAB, quick

# figures.json, written by the kit or by hand.


BY_HAND = """
{
  "timer-overhead-fenced": {"value": 16.4, "unit": "ns", "recording": "recordings/fenced.csv"},
  "timer-step": {"value": 26, "unit": "ticks", "recording": null}
}
"""


def in_folder(folder: Path, text: str | bytes) -> Path:
    content = text.encode() if isinstance(text, str) else text
    (folder / figures.FILE_NAME).write_bytes(content)
    return folder


def test_a_file_written_by_hand_is_read(tmp_path: Path) -> None:
    assert figures.read(in_folder(tmp_path, BY_HAND)) == {
        "timer-overhead-fenced": Figure(
            "timer-overhead-fenced", 16.4, "ns", "recordings/fenced.csv"
        ),
        "timer-step": Figure("timer-step", 26.0, "ticks", None),
    }


def test_no_file_is_no_figures_yet(tmp_path: Path) -> None:
    assert figures.read(tmp_path) == {}


def nested(depth: int) -> list[object]:
    return [nested(depth - 1)] if depth else []


GOOD_ENTRY = {"value": 1.5, "unit": "ns", "recording": "recordings/a.csv"}

NUMBER = "a finite number such as 16.4, without quotes"
UNIT = "unit must be a short text such as ns, not "
NAMED = (
    'recording must be recordings/NAME.csv (with / and a NAME of letters, digits, ".", "_" and "-")'
    ", not "
)
OBJECT = "it must be an object with value, unit and recording, not "

BAD_ENTRIES: dict[str, tuple[object, str]] = {
    "a bare number": (16.4, f"{OBJECT}16.4"),
    "a list": ([16.4, "ns"], f"{OBJECT}a list"),
    "nothing": (None, f"{OBJECT}null"),
    "not a number at all": (math.nan, f"{OBJECT}NaN"),
    "no value": ({"unit": "ns"}, f"value is missing; it must be {NUMBER}"),
    "value as text": ({**GOOD_ENTRY, "value": "16.4"}, f"value must be {NUMBER}, not '16.4'"),
    "value with a comma": ({**GOOD_ENTRY, "value": "16,4"}, f"value must be {NUMBER}, not '16,4'"),
    "value true": ({**GOOD_ENTRY, "value": True}, f"value must be {NUMBER}, not true"),
    "value NaN": ({**GOOD_ENTRY, "value": math.nan}, f"value must be {NUMBER}, not NaN"),
    "value infinite": (
        {**GOOD_ENTRY, "value": -math.inf}, f"value must be {NUMBER}, not -Infinity"),
    "value too large": ({**GOOD_ENTRY, "value": 10**400},
        "it cannot be read (line 1): a number has 401 digits; round it"),
    "value an object": ({**GOOD_ENTRY, "value": {}}, f"value must be {NUMBER}, not an object"),
    "no unit": ({"value": 1}, "unit is missing; it must be a short text such as ns"),
    "unit a number": ({**GOOD_ENTRY, "unit": 1}, f"{UNIT}1"),
    "unit empty": ({**GOOD_ENTRY, "unit": " "}, f"{UNIT}' '"),
    "unit long": ({**GOOD_ENTRY, "unit": "n" * 1000}, f"{UNIT}'{'n' * 59}"),
    "half a character": ({**GOOD_ENTRY, "unit": "\ud800"}, f"{UNIT}'\\ud800'"),
    "recording outside the folder": (
        {**GOOD_ENTRY, "recording": "recordings/../../other/a.csv"},
        f"{NAMED}'recordings/../../other/a.csv'"),
    "recording absolute": ({**GOOD_ENTRY, "recording": "/a/b.csv"}, f"{NAMED}'/a/b.csv'"),
    "recording elsewhere": ({**GOOD_ENTRY, "recording": "a.csv"}, f"{NAMED}'a.csv'"),
    "recording hidden": ({**GOOD_ENTRY, "recording": "recordings/.a.csv"},
        f"{NAMED}'recordings/.a.csv'"),
    "recording with an escape": ({**GOOD_ENTRY, "recording": "recordings\fenced.csv"},
        f"{NAMED}'recordings\\x0cenced.csv'"),
    "recording a list": ({**GOOD_ENTRY, "recording": ["recordings/a.csv"]}, f"{NAMED}a list"),
    "two things": ({"value": "1", "unit": ""}, f"value must be {NUMBER}, not '1'; {UNIT}''"),
    "nested deep": ({**GOOD_ENTRY, "mine": nested(40)},
        "it has more than 20 nested objects and lists (line 1)"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_ENTRIES)
def test_a_bad_entry_is_told_and_hides_no_other(case: str, tmp_path: Path) -> None:
    entry, message = BAD_ENTRIES[case]
    found = figures.read(in_folder(tmp_path, json.dumps({"bad": entry, "good": GOOD_ENTRY})))
    bad = found["bad"]
    assert isinstance(bad, BadFigure) and bad.what == message
    assert isinstance(found["good"], Figure)


@pytest.mark.parametrize("name", ["", "Capital", "a b", "../a", "x" * 100, "a\nb", "é"])
def test_a_bad_id_is_told_and_hides_no_other(name: str, tmp_path: Path) -> None:
    found = figures.read(in_folder(tmp_path, json.dumps({name: GOOD_ENTRY, "good": GOOD_ENTRY})))
    assert isinstance(found.pop("good"), Figure)
    assert [type(entry) for entry in found.values()] == [BadFigure]


GOOD = json.dumps(GOOD_ENTRY)

#: Spelled as JSON cannot be by json.dumps: `good` is whatever the rest of the file holds.
BAD_TEXTS: dict[str, tuple[str, str]] = {
    "a comma missing": ('{\n "bad": {"value": 1 "unit": "ns"}, "good": %s}',
        "it is not valid JSON (line 2, column 21): a comma is missing here"),
    "a decimal comma": ('{"bad": {"value": 16,4, "unit": "ns"}, "good": %s}',
        "it is not valid JSON (line 1, column 22): a name in double quotes is missing here, or the "
        "comma before it is one too many; a number has a decimal point, not a comma"),
    "no quotes": ('{"bad": {"value": 1, "unit": ns}, "good": %s}',
        "it is not valid JSON (line 1, column 30): a value is missing here, or a text without "
        "double quotes"),
    "no colon": ('{"bad": {"value" 1}, "good": %s}',
        "it is not valid JSON (line 1, column 18): a colon is missing here"),
    "no value": ('{"bad": , "good": %s}',
        "it is not valid JSON (line 1, column 9): a value is missing here, or a text without "
        "double quotes"),
    "a line end in a text": ('{"bad": {"value": 1, "unit": "ns\n }, "good": %s}',
        "it is not valid JSON (line 1, column 33): this text has no closing quote in its line"),
    "a backslash": (r'{"bad": {"recording": "recordings\x.csv"}, "good": %s}',
        r"it is not valid JSON (line 1, column 34): in JSON, \ begins an escape: write / between a "
        "folder and a file"),
    "nested as deep as fits": ('{"bad": ' + "[" * 99_000 + "]" * 99_000 + ', "good": %s}',
        "it has more than 20 nested objects and lists (line 1)"),
    "many digits": ('{\n"bad": {"value": ' + "9" * 99_000 + '}, "good": %s}',
        "it cannot be read (line 2): a number has 99000 digits; round it"),
    "the same id twice": ('{"bad": {"value": 1},\n "good": %s,\n "bad": {"value": 2}}',
        "its name appears in line 1 and again in line 3; keep one of the two"),
    "the value twice": ('{"bad": {"value": 1, "value": 2}, "good": %s}',
        "it cannot be read (line 1): 'value' appears twice; keep one of them"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_TEXTS)
def test_a_mistake_inside_an_entry_costs_this_entry_alone(case: str, tmp_path: Path) -> None:
    text, told = BAD_TEXTS[case]
    folder = in_folder(tmp_path, text % GOOD)
    found = figures.read(folder)
    assert found == {
        "bad": BadFigure("bad", told),
        "good": Figure("good", 1.5, "ns", "recordings/a.csv"),
    }
    # Nothing that cannot be read is lost, unless it is what the new figure replaces.
    with pytest.raises(BadFigures, match=re.escape(f"figures.json, entry bad: {told}")):
        figures.put(folder, Figure("new", 1.0, "ns", None))
    assert (folder / figures.FILE_NAME).read_text() == text % GOOD
    figures.put(folder, Figure("bad", 1.0, "ns", None, "now"))
    assert figures.read(folder) == found | {"bad": Figure("bad", 1.0, "ns", None, "now")}


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is not valid JSON (line 1, column 1): it must hold one object, { ... }"),
    "a list": (b"[]", "is not valid JSON (line 1, column 1): it must hold one object, { ... }"),
    "a number": (b" 3", "is not valid JSON (line 1, column 2): it must hold one object, { ... }"),
    "cut off": (BY_HAND.encode()[:-3],
        "is not valid JSON (line 2, column 1): this { has no partner"),
    "a brace too many": (b"{}\n}", "is not valid JSON (line 2, column 1): nothing may follow here"),
    "a wrong partner": (b'{"a": [1}',
        "is not valid JSON (line 1, column 9): this } has no partner"),
    "a quote missing": (b'{"a": {"unit": "ns},\n "b": {}}',
        "is not valid JSON (line 1, column 16): this text has no closing quote"),
    "no quotes at an id": (b"{a: 1}", "is not valid JSON (line 1, column 2): "
        'here an entry must begin, such as "name": { ... }'),
    "a bad escape in an id": (rb'{"\a": 1}', "is not valid JSON (line 1, column 3): "
        r"in JSON, \ begins an escape: write / between a folder and a file"),
    "not UTF-8": (b'{"\xff": 1}', "is not UTF-8 text: byte 2; save it as UTF-8"),
    "UTF-16 without its mark": (BY_HAND.encode("utf-16-le"),
        "is not UTF-8 text: it has bytes that are 0; save it as UTF-8"),
    "nested without an end": (b'{"a":' * 50_000,
        "is not valid JSON (line 1, column 249996): this { has no partner"),
    "too many": (json.dumps({f"f{n}": GOOD_ENTRY for n in range(300)}).encode(),
        "has more than 200 entries"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_FILES)
def test_an_unusable_file_is_told_and_not_written_over(case: str, tmp_path: Path) -> None:
    content, message = BAD_FILES[case]
    folder = in_folder(tmp_path, content)
    with pytest.raises(BadFigures) as raised:
        figures.read(folder)
    assert str(raised.value) == f"figures.json {message}"
    with pytest.raises(BadFigures):
        figures.put(folder, Figure("new", 1.0, "ns", None))
    assert (folder / figures.FILE_NAME).read_bytes() == content


def test_a_file_that_is_too_large_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadFigures, match=r"has 1000000 bytes; at most 262144 are read"):
        figures.read(in_folder(tmp_path, b" " * 1_000_000))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_does_no_harm(encoding: str, tmp_path: Path) -> None:
    without = figures.read(in_folder(tmp_path, BY_HAND))
    assert figures.read(in_folder(tmp_path, BY_HAND.encode(encoding))) == without
    figures.put(tmp_path, Figure("new", 1.0, "ns", None, "now"))
    assert figures.read(tmp_path) == without | {"new": Figure("new", 1.0, "ns", None, "now")}


@pytest.mark.parametrize(
    "path",
    ["./recordings/a.csv", r"recordings\a.csv", r".\recordings\a.csv", " recordings/a.csv \n"],
)
def test_other_spellings_of_a_path_are_read(path: str, tmp_path: Path) -> None:
    entry = {"value": 1.5, "unit": " ns ", "recording": path}
    found = figures.read(in_folder(tmp_path, json.dumps({" a ": entry})))
    assert found == {"a": Figure("a", 1.5, "ns", "recordings/a.csv")}


@pytest.mark.parametrize(
    "text", ['{"a": %s, "b": %s,\n}', '{,"a": %s,, "b": %s}', '{"a": %s "b": %s}']
)
def test_commas_too_many_or_missing_between_entries_do_no_harm(text: str, tmp_path: Path) -> None:
    found = figures.read(in_folder(tmp_path, text % (GOOD, GOOD)))
    assert [type(each) for each in found.values()] == [Figure, Figure]


def test_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(BY_HAND)
    (tmp_path / figures.FILE_NAME).symlink_to("other.json")
    with pytest.raises(BadFigures, match="symbolic link"):
        figures.read(tmp_path)


@pytest.mark.parametrize("place", ["nowhere.json", "/dev/zero"])
def test_a_link_to_nothing_or_to_a_device_is_refused(place: str, tmp_path: Path) -> None:
    (tmp_path / figures.FILE_NAME).symlink_to(place)
    with pytest.raises(BadFigures):
        figures.read(tmp_path)


def test_a_new_figure_is_laid_beside_the_others(tmp_path: Path) -> None:
    mine = {"note": "kept", "timer-step": {"value": 26, "unit": "ticks", "mine": [1]}}
    in_folder(tmp_path, json.dumps(mine))
    figures.put(tmp_path, Figure("cost", 3.5, "ns", "recordings/a.csv"))
    stated = json.loads((tmp_path / figures.FILE_NAME).read_text())
    assert stated["note"] == "kept" and stated["timer-step"] == mine["timer-step"]
    written = figures.read(tmp_path)["cost"]
    assert isinstance(written, Figure)
    assert (written.value, written.unit, written.recording) == (3.5, "ns", "recordings/a.csv")
    assert written.when is not None and written.when.endswith("+00:00")


def test_the_newest_figure_wins(tmp_path: Path) -> None:
    for value in (1.0, 2.0):
        figures.put(tmp_path, Figure("cost", value, "ns", None, "2026-01-01"))
    assert figures.read(tmp_path) == {"cost": Figure("cost", 2.0, "ns", None, "2026-01-01")}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_figure_is_not_written(value: float, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="finite"):
        figures.put(tmp_path, Figure("cost", value, "ns", None))
    assert list(tmp_path.iterdir()) == []


# What the front ends of Jupyter get: colours of C, and outputs that need no widgets. `python -m
# bench front_ends` opens a lab in each of them.


FRONT_ENDS = REPOSITORY / "labs" / "front_ends"
EXTENSION = FRONT_ENDS / "share" / "jupyter" / "labextensions" / "ticklab-c-cells"
OF_VS_CODE = FRONT_ENDS / "share" / "ticklab" / "vscode" / "ticklab-c-cells"
WIDGET = "application/vnd.jupyter.widget-view+json"


class Outputs:
    """The outputs of a cell as a saved notebook holds them: each a bundle by MIME type."""

    def __init__(self) -> None:
        self.bundles: list[dict[str, Any]] = []

    def display(self, shown: Any, raw: bool = False, display_id: bool = False) -> Handle:
        if not raw:
            shown = {"text/html": shown._repr_html_(), "text/plain": repr(shown)}
        self.bundles.append(shown)
        return Handle(self, len(self.bundles) - 1)


class Handle:
    """What replaces one of the outputs."""

    def __init__(self, outputs: Outputs, number: int) -> None:
        self.outputs, self.number = outputs, number

    def update(self, shown: Any, raw: bool = False) -> None:
        if not raw:
            shown = {"text/html": shown._repr_html_(), "text/plain": repr(shown)}
        self.outputs.bundles[self.number] = shown


def show_in(monkeypatch: pytest.MonkeyPatch, shown: Outputs | Notebook) -> None:
    """Let what a notebook displays go to `shown`."""
    monkeypatch.setattr(messages, "in_notebook", lambda: True)
    monkeypatch.setattr(IPython.display, "display", shown.display)


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> Outputs:
    shown = Outputs()
    show_in(monkeypatch, shown)
    return shown


def sources(lab: Path) -> list[str]:
    cells = json.loads(lab.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def test_a_saved_panel_holds_its_last_result_without_widgets(
    outputs: Outputs, tmp_path: Path
) -> None:
    panel = Session("x", tmp_path).panel("timer_overhead", ("fenced",))
    panel._ipython_display_()
    set_to(panel, samples="200", processes="2")
    press(panel)
    assert panel.run is not None
    saved, live = outputs.bundles
    page = saved["text/html"]
    assert typeset(panel.run.result().sentence()) in page
    assert re.search(r'<img [^>]*src="data:image/', page)
    assert "run the first cell of the lab, and then this one (Shift+Enter)" in page
    assert "<script" not in page and WIDGET not in saved
    # The rules that hide one of the two outputs are for the class that the widget has.
    assert "ticklab-panel" in panel.controls.widget._dom_classes
    assert ".jp-OutputArea:has(.ticklab-panel:not(" in page and 'class="ticklab-kept"' in page
    # A page without widgets shows the words.
    assert WIDGET in live and live["text/plain"] == "Run this cell: the panel appears here."


def test_a_saved_form_holds_the_line_of_python_with_what_was_stored(
    outputs: Outputs, tmp_path: Path
) -> None:
    form = PredictionForm(tmp_path, guide.of_lab("01-timer-overhead"), "timer-overhead-fenced")
    form.display()
    form.fields.number.value = "1e3"
    form.fields.sure.value = "0.6"
    form.fields.because.value = "fences wait"
    form.store()
    live, line = outputs.bundles
    assert WIDGET in live and live["text/plain"].startswith("Run this cell: a form ")
    written = 'lab.predict("timer-overhead-fenced", 1000, "ns", because="fences wait", sure=0.6)'
    assert written in line["text/plain"] and WIDGET not in line
    assert "ticklab-form" in form.fields.widget._dom_classes
    assert ":not(:has(.ticklab-form:not(" in line["text/html"]
    assert "1000" in line["text/html"] and "Run the first cell of the lab" in line["text/html"]


def test_nbclassic_knows_the_cells_of_c_and_no_others() -> None:
    setting = FRONT_ENDS / "etc/jupyter/nbconfig/notebook.d/ticklab-c-cells.json"
    modes = json.loads(setting.read_text(encoding="utf-8"))["CodeCell"]["highlight_modes"]
    ((mode, (pattern,)),) = [(mode, listed["reg"]) for mode, listed in modes.items()]
    assert mode == "magic_text/x-csrc"
    texts = [text for lab in REPOSITORY.glob("notebooks/*/*.ipynb") for text in sources(lab)]
    in_c = [text.startswith("%%ckernel ") for text in texts]
    assert in_c.count(True) > 5 and in_c.count(False) > 50
    texts += ["%%ckernels x", " %%ckernel x", "x = '%%ckernel'", "%%bash\n%%ckernel x"]
    in_c += [False] * 4
    # nbclassic looks at the first line alone.
    assert [bool(re.search(pattern, text.partition("\n")[0])) for text in texts] == in_c


def test_jupyterlab_finds_the_extension_under_the_name_that_it_loads() -> None:
    stated = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    loaded = EXTENSION / stated["jupyterlab"]["_build"]["load"]
    assert stated["name"] == EXTENSION.name
    assert f"window._JUPYTERLAB['{stated['name']}'] =" in loaded.read_text(encoding="utf-8")


def test_vs_code_takes_a_cell_for_c_from_the_magic_in_its_first_line_to_its_end() -> None:
    stated = json.loads((OF_VS_CODE / "package.json").read_text())
    (grammar,) = stated["contributes"]["grammars"]
    assert grammar["injectTo"] == ["source.python"]
    rules = json.loads((OF_VS_CODE / grammar["path"]).read_text())
    assert rules["scopeName"] == grammar["scopeName"]
    assert rules["injectionSelector"] == "L:source.python", "before the rules of Python"
    (rule,) = rules["patterns"]
    begin = re.compile(rule["begin"], re.MULTILINE)
    assert begin.search("%%ckernel mine\nint a;")
    for other in ("%%ckernels", "x = 1\n%%ckernel mine", " %%ckernel", "%ckernel", "%%bash"):
        assert not begin.search(other), other
    assert not re.search(rule["end"], "int a;\n/* %%ckernel */\n\n"), "a cell is C to its end"
    assert [rule["contentName"]] == [*grammar["embeddedLanguages"]]
    assert rule["patterns"] == [{"include": "source.c"}]


# The line in a cell's output that says how far a run is.


class Notebook:
    """What a notebook would show: the words of the line, in the order in which they came."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.threads: set[threading.Thread] = set()

    def display(self, *bundles: object, **options: Any) -> Notebook:
        self.words += [each["text/plain"] for each in bundles if isinstance(each, dict)]
        self.threads.add(threading.current_thread())
        return self

    update = display


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    shown = Notebook()
    show_in(monkeypatch, shown)
    return shown


def test_a_run_that_lasts_says_how_far_it_is_and_then_no_more(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "AFTER_S", 0.0)
    monkeypatch.setattr(measuring, "EVERY_S", 0.0)
    with ProgressLine("own") as line:
        line.show()
        line.heard(Progress(0, 1_000))
        line.show()
        line.heard(Progress(250, 1_000))
        line.show()
        line.heard(Progress(1_000, 1_000))
        line.show()
    assert notebook.words == [
        "own: building, 0 s",
        "own: running, no sample yet, 0 s",
        "own: 25%, 250 of 1,000 samples with the warm-up, 0 s",
        "own: all 1,000 samples with the warm-up are taken; looking at the C, 0 s",
        "",
    ]


def test_a_run_that_adds_processes_shows_no_share_of_a_total_that_grows() -> None:
    for narrower, why in (
        (True, "adding processes for a narrower interval"),
        (False, "adding processes, because the core was shared"),
    ):
        line = ProgressLine("own", narrower=narrower)
        line.heard(Progress(900, 1_000))
        assert "90%" in line.words(1.0)
        line.heard(Progress(1_400, 1_500))
        assert line.words(9.0) == f"own: 1,400 samples with the warm-up, {why}, 9 s"


def test_the_line_changes_only_every_few_seconds(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "AFTER_S", 0.0)
    monkeypatch.setattr(measuring, "EVERY_S", 3_600.0)
    with ProgressLine("own") as line:
        for _ in range(3):
            line.show()
    assert notebook.words == ["own: building, 0 s", ""]


def test_a_short_run_shows_no_line(notebook: Notebook) -> None:
    with ProgressLine("own") as line:
        line.heard(Progress(1, 2))
        line.show()
    assert notebook.words == []


def test_outside_a_notebook_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measuring, "AFTER_S", 0.0)
    with ProgressLine("own") as line:
        line.show()
    assert capsys.readouterr().out == ""


def test_every_run_of_a_lab_has_a_line_in_the_thread_of_its_cell(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(measuring, "AFTER_S", 0.0)
    quick(Session(LAB, tmp_path), samples=400)
    assert notebook.words[0].startswith("fenced: ")
    assert notebook.words[-1] == ""
    assert notebook.threads == {threading.current_thread()}


# A call of `lab` with wrong arguments is a message that says what to write, never a TypeError.


@pytest.fixture
def lab(tmp_path: Path) -> Session:
    return Session("01-timer-overhead", tmp_path)


@pytest.mark.parametrize(
    ("method", "args", "options", "heading", "sentence"),
    [
        (
            "predict",
            ("step", 700, "ns", "text", 50),
            {},
            "lab.predict takes because and sure by name",
            'lab.predict("step", 700, "ns", because="text", sure=50).',
        ),
        (
            "predict",
            ("step", 700, "ns", 0.5),
            {"because": "text"},
            "lab.predict takes sure by name",
            'lab.predict("step", 700, "ns", sure=0.5, because="text").',
        ),
        (
            "predict",
            ("step", 700, "ns", "text", 50, 3),
            {},
            "does not take so many values",
            "lab.predict(name, value, unit, because=..., sure=...).",
        ),
        ("predict", ("step",), {"becuase": "x"}, "did you mean because?", "because=..."),
        ("figure", (), {"unit": "ns"}, "lab.figure needs figure and value", "lab.figure(figure,"),
        ("figure", ("step", 1), {"figure": "x"}, "was given figure twice", "lab.figure(figure,"),
        ("measure", (), {"samples": 10}, "lab.measure needs kernel", "lab.measure(kernel,"),
        ("hint", ("fence", 1, 2), {}, "does not take so many values", "lab.hint(topic, rung)."),
        ("progress", ("01",), {}, "does not take so many values", "lab.progress()."),
    ],
)
def test_wrong_arguments_are_a_message(
    lab: Session,
    method: str,
    args: tuple[Any, ...],
    options: dict[str, Any],
    heading: str,
    sentence: str,
) -> None:
    with pytest.raises(Refused) as refused:
        getattr(lab, method)(*args, **options)
    message = refused.value.message
    assert heading in message.heading
    assert sentence in " ".join(message.sentences)


def test_the_line_that_it_proposes_is_taken(lab: Session) -> None:
    with pytest.raises(Refused) as refused:
        lab.predict("timer-overhead-fenced", 700, "ns", "counted", 0.5)  # type: ignore[call-arg]
    (line,) = refused.value.message.sentences
    eval(line.partition(": ")[2].rstrip("."), {"lab": lab})
    assert (lab.folder / "predictions.json").is_file()


def test_every_method_is_checked(lab: Session) -> None:
    """Also one that is added later, and one of a class above it."""
    methods = [
        name for name, _ in inspect.getmembers(Session, inspect.isfunction) if name[0] != "_"
    ]
    assert {"predict", "figure", "measure", "progress", "carry_out"} <= {*methods}
    for name in methods:
        with pytest.raises(Refused, match="has no option 'nonsense'"):
            getattr(lab, name)(nonsense=1)


def test_an_error_inside_a_method_is_not_hidden(lab: Session) -> None:
    with pytest.raises(TypeError):
        lab.compare_class(5)  # type: ignore[arg-type]


# Registers overwritten in silence: a run that does not end names them only if the C shows it. A
# run that ended names them too: it ended by luck.


GOOD_CALL = 'asm volatile("syscall" : "=a"(r) : "a"(SYS_read), "D"(fd) : "rcx", "r11", "memory");'
WITHOUT_ANY = 'asm volatile("syscall" : "=a"(r) : "a"(SYS_read), "D"(fd));'
WITHOUT_ONE = '__asm__("mov $39, %%eax; syscall" : "=a"(r) : : "rcx");'


def test_which_registers_are_overwritten_in_silence() -> None:
    for source, missing in (
        (GOOD_CALL, ()),
        (WITHOUT_ANY, ("rcx", "r11")),
        (WITHOUT_ONE, ("r11",)),
        (GOOD_CALL + "\n" + WITHOUT_ONE, ("r11",)),
        ('asm volatile("syscall" : "=a"(r), "+c"(buffer) : "b"(fd) : "r11");', ()),
        ('asm volatile("syscall" : "=a"(r) : "c"(buffer) : "r11");', ("rcx",)),
        (f"/* {WITHOUT_ANY} */ {GOOD_CALL} // {WITHOUT_ANY}", ()),
        (f"{GOOD_CALL} {WITHOUT_ANY} /* so far", ("rcx", "r11")),
        ("/*" * 60_000, ()),
        ('asm volatile("" : "+r"(left));', ()),
        ("syscall(SYS_getppid);", ()),
        ("asm(" * 60_000, ()),
    ):
        assert toolchain.missing_clobbers(source) == missing


def test_no_released_c_kernel_overwrites_one() -> None:
    for path in paths.kernels_c().glob("*.[ch]"):
        assert toolchain.missing_clobbers(path.read_text(encoding="utf-8")) == (), path.name


def test_a_run_that_hangs_is_laid_to_the_registers_only_where_they_are_missing() -> None:
    for source in (None, GOOD_CALL, WITHOUT_ANY):
        ended = RunFailed("Ticklab ended own_call after the time limit of 60 s", hung=True)
        for message in (
            run_errors.of_error(ended, source),
            run_errors.of_interrupt("own_call", source),
        ):
            words = " ".join(message.sentences)
            assert ("overwrites rcx and r11" in words) == (source == WITHOUT_ANY)
        failed = run_errors.of_error(RunFailed("own_call: read0: the call failed", 1), WITHOUT_ANY)
        assert "rcx" not in " ".join(failed.sentences), source


def test_a_run_that_ended_by_luck_says_which_registers_to_name() -> None:
    run = file.read(FIXTURES / "honest" / "03-system-call" / "recordings" / "own.csv")
    message = run_errors.of_registers(run, WITHOUT_ONE)
    assert message is not None and message.tone == "note"
    assert message.heading.endswith("overwrites r11") and "rcx" not in message.sentences[1]
    assert run_errors.of_registers(run, GOOD_CALL) is None
    # On another machine this assembly was not compiled: the C holds it for x86-64 beside its own.
    elsewhere = replace(run, conditions={**run.conditions, "os": "Linux 6.1 aarch64"})
    assert run_errors.of_registers(elsewhere, WITHOUT_ONE) is None


# What a student tries first with runs and variants, and what the refusal says to write instead.


@pytest.fixture(scope="module")
def run() -> Run:
    return Run.of(read(FIXTURES / "honest/03-system-call/recordings/clocks.csv"))


def test_a_run_prints_all_variants_or_the_one_that_was_asked_for(run: Run) -> None:
    first, second = (each.variant for each in run.results[:2])
    printed = repr(run)
    assert all(f" {each.variant}: " in printed for each in run.results)
    for chosen in (run[second], run[second].in_unit("ticks")):
        for shown in (repr(chosen), chosen._repr_html_()):
            assert f" {second}: " in shown and f" {first}: " not in shown
        assert len(chosen.results) == len(run.results)


@pytest.mark.parametrize(
    "calculate",
    [operator.add, operator.sub, operator.mul, operator.truediv],
    ids=lambda f: f.__name__,
)
def test_a_run_is_no_number_and_the_refusal_says_what_is(
    run: Run, calculate: Callable[[object, object], object]
) -> None:
    for one, other in ((run, run["gettimeofday-vdso"]), (run, 2.0), (2.0, run)):
        with pytest.raises(Refused, match="calculate with its value") as refused:
            calculate(one, other)
        assert "one.value / other.value" in str(refused.value)
        assert "lab.compare(one, other)" in str(refused.value)
    assert calculate(run.value, run.value) is not None


def test_variants_apart_are_refused_with_the_text_to_write(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="write all variants in one text") as refused:
        Session(LAB, tmp_path).measure("system_call", "getppid", "invalid", samples=100)
    assert '"getppid, invalid"' in str(refused.value)


def test_the_beginning_of_many_names_is_no_misspelling_of_one() -> None:
    for word, meant in (("random", False), ("random-8n", True)):
        found = run_errors.of_unknown_variants(Plan("memory_ladder", variants=(word,)))
        assert found is not None, word
        assert any("Did you mean" in each for each in found.sentences) == meant
        assert "random-" in found.sentences[-1], word


# Tables: words at the left and numbers at the right, on a page and in plain text.


TABLE = Table(
    "costs",
    ("variant", "cost", "why"),
    (
        ("00-start", "1,200 ns", "it is <cold>"),
        ("b", "-3.5", ""),
        ("c", "none", "no line could be fitted to what was measured"),
    ),
)


def sides(html: str) -> list[str]:
    return re.findall(r'<th scope="col" style="text-align:(\w+)', html)


def test_numbers_stand_at_the_right_names_and_words_at_the_left() -> None:
    assert sides(TABLE.as_html()) == ["left", "right", "left"]
    assert TABLE.as_text().splitlines()[2:4] == [
        "00-start  1,200 ns  it is <cold>",
        "b             -3.5",
    ]


def test_long_text_stands_at_the_left_even_if_it_begins_with_a_number() -> None:
    row = ("you", "42.6 ticks (95 % interval 42.2 to 43.0 ticks)")
    assert sides(Table("", ("who", "cost"), (row,)).as_html()) == ["left", "left"]


def test_what_is_short_is_not_broken_into_lines_and_all_is_escaped() -> None:
    page = TABLE.as_html()
    assert 'white-space:nowrap">1,200\xa0ns</td>' in page
    assert 'em)">it is &lt;cold&gt;</td>' in page


def test_a_column_in_which_nothing_stands_can_be_left_out() -> None:
    table = Table("", ("variant", "from", "cost"), (("a", "", "1"), ("b", "", "2")))
    assert table.without_empty() == Table("", ("variant", "cost"), (("a", "1"), ("b", "2")))


# What a notebook says of C that got a first call ready by touching the wrong page.


OWN = FIXTURES / "honest" / "02-first-iteration" / "recordings" / "own.csv"


def watched(**counts: str) -> Recording:
    """The saved run, with other counts of the pages that the C touched."""
    honest = file.read(OWN)
    kept = {name: text for name, text in honest.conditions.items() if ".watched_" not in name}
    added = {f"variant.own.watched_{name}": count for name, count in counts.items()}
    return replace(honest, conditions={**kept, **added})


def test_a_page_that_was_not_touched_is_reported() -> None:
    for others, words in (("1", "only other pages"), ("0", "no page")):
        message = run_errors.of_pages(watched(page="0", other_pages=others), "(void)code[4096];")
        assert message is not None and words in message.sentences[0]


def test_nothing_is_said_of_c_that_touched_the_page_or_that_nobody_watched() -> None:
    assert run_errors.of_pages(watched(page="1", other_pages="1"), "") is None
    assert run_errors.of_pages(watched(), "") is None


def test_nothing_is_said_of_c_that_reaches_the_code_by_its_name() -> None:
    unseen = watched(page="0", other_pages="0")
    assert run_errors.of_pages(unseen, "touch(remote_procedure);") is None


def test_a_call_is_reported_whatever_the_pages_say() -> None:
    message = run_errors.of_pages(watched(called="1"), "((void (*)(void))code)();")
    assert message is not None and "called the code" in message.heading
