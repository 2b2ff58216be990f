"""What axe-core finds wrong with a piece of a page, by WCAG 2.2 at level A and AA.

axe-core comes with axe-playwright-python: nothing is loaded. It judges by rules and cannot see
everything; `bench.labs.legible` looks at what is cut off, and a person has to look at the plots.
"""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Locator

_RUN = """async root => {
  const only = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };
  const found = await axe.run(root, { resultTypes: ['violations'], runOnly: only });
  return found.violations.map(({ id, impact, nodes }) => ({
    id, impact, where: nodes.map(node => node.html.slice(0, 120)),
  }));
}"""


def violations(shown: Locator) -> list[str]:
    """The findings in the element `shown` and below, a line each: rule, first place."""
    if not shown.page.evaluate("typeof axe === 'object'"):
        shown.page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] = shown.evaluate(_RUN)
    return [
        f"{each['id']} ({each['impact']}, {len(each['where'])} places): {each['where'][0]}"
        for each in found
    ]
