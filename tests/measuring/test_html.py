"""Templates of HTML escape what they are given, and miss no value in silence."""

from __future__ import annotations

import sys
from pathlib import Path

import jinja2
import pytest

from labs import html
from labs.terminal import unbroken
from support.paths import REPOSITORY as ROOT
from support.programs import call

TEMPLATES = sorted(path for part in ("labs", "grader") for path in (ROOT / part).rglob("*.jinja"))


def test_values_are_escaped(tmp_path: Path) -> None:
    template = tmp_path / "page.html.jinja"
    template.write_text('<p title="{{ words }}">{{ words }}</p>\n', encoding="utf-8")
    page = html.filled(template, words='<script>"&')
    assert page == '<p title="&lt;script&gt;&#34;&amp;">&lt;script&gt;&#34;&amp;</p>'
    assert html.inline("<p>{{ words }}</p>", words="<b>") == "<p>&lt;b&gt;</p>"


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError, match="words"):
        html.inline("<p>{{ words }}</p>")


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_every_template_can_be_read_and_is_filled_by_the_code_beside_it(path: Path) -> None:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(path.parent))
    environment.filters |= {"unbroken": unbroken, "coded": html.coded}
    environment.get_template(path.name)
    beside = [each for each in path.parent.iterdir() if each.suffix in (".py", ".jinja")]
    name = path.name.removesuffix(".html.jinja")
    texts = [each.read_text(encoding="utf-8") for each in beside if each != path]
    assert any(f"{name}.html.jinja" in text or f'"{name}"' in text for text in texts)


@pytest.mark.slow
def test_the_command_line_starts_without_templates() -> None:
    commands = "checking, cli, doctor, guidance, kernels, measure, show, start"
    loaded = f"import sys; from labs.commands import {commands}; print('jinja2' in sys.modules)"
    done = call(sys.executable, "-c", loaded, cwd=ROOT, check=True)
    assert done.stdout.strip() == "False"
