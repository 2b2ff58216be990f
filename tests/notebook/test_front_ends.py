"""What the front ends of Jupyter get: colours of C, and outputs that need no widgets.

`python -m bench front_ends` opens a lab in each of them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import IPython.display
import pytest

from labs import messages
from labs.course import guide
from labs.notebook.predicting import PredictionForm
from labs.notebook.session import Session
from testing.paths import REPOSITORY
from testing.pressed_panel import press, set_to

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


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> Outputs:
    shown = Outputs()
    monkeypatch.setattr(messages, "in_notebook", lambda: True)
    monkeypatch.setattr(IPython.display, "display", shown.display)
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
    assert panel.run.result().sentence() in page
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
    assert "1000" in line["text/html"] and "run the first cell of the lab" in line["text/html"]


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
