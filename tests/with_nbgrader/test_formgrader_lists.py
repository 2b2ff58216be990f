"""The formgrader's lists hold names and addresses as text, with all that nbgrader wrote there."""

from __future__ import annotations

import re

import nbgrader.server_extensions.formgrader.handlers as handlers
from jinja2 import Environment, FileSystemLoader

from grader.with_nbgrader.pages.formgrader import ListEnvironment

STUDENT = "manage_students_assignments.tpl"
CRAFTED = '";alert(1);"</script><img src=x onerror=alert(2)>\\'


def page(template: str, environment: type[Environment] = ListEnvironment, **values: str) -> str:
    """A list as the formgrader makes it."""
    made = environment(loader=FileSystemLoader([handlers.template_path]))
    return made.get_template(template).render(base_url="/base", **values)


def test_stock_nbgrader_runs_what_is_in_an_address() -> None:
    """What this package replaces: when it no longer does, ours can go."""
    assert f'var student_id = "{CRAFTED}"' in page(STUDENT, Environment, student_id=CRAFTED)


def test_an_address_cannot_end_a_string_or_a_tag() -> None:
    made = page(STUDENT, student_id=CRAFTED)
    (held,) = re.findall(r"^var student_id = (.*);$", made, re.MULTILINE)
    assert not re.search(r'[<>"\\]', held[1:-1])
    assert "<img src=x" not in made


def test_an_honest_name_stays_as_it_is() -> None:
    for name in ("o'neil", "\u5f20\u4f1f", "a b", "a#b%2f", "{{ 7 * 7 }}"):
        made = page(STUDENT, student_id=name)
        assert f'var student_id = "{name}";' in made
        assert f'<li class="active">{name}</li>' in made


def test_a_list_has_all_of_nbgrader_and_our_head() -> None:
    for template in ("manage_students.tpl", "gradebook_assignments.tpl"):
        stock, made = page(template, Environment), page(template)
        assert stock.count("</head>") == made.count("</head>") == 1, template
        before, _, behind = stock.partition("</head>")
        head = made.removeprefix(before).removesuffix(f"</head>{behind}")
        assert len(head) == len(made) - len(stock), template
        assert "Content-Security-Policy" in head and "http://" not in head, template
        assert re.search(r"#main-table td.*overflow-wrap: anywhere", head, re.DOTALL)
