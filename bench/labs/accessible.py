"""What axe-core finds wrong with a piece of a page, by WCAG 2.2 at level A and AA.

axe-core comes with axe-playwright-python: nothing is loaded. It judges by rules and cannot see
everything; `illegible` looks at what is cut off, and a person has to look at the plots.
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


_FAULTS = r"""(root, movable) => {
  const faults = new Set();
  const named = element => {
    const words = (element.innerText || element.value || '').trim().replace(/\s+/g, ' ');
    return `${element.tagName.toLowerCase()} "${words.slice(0, 50)}"`;
  };
  const seen = element => element.checkVisibility({ visibilityProperty: true }) &&
    element.getClientRects().length > 0;

  for (const element of [root, ...root.querySelectorAll('*')]) {
    if (!(element instanceof HTMLElement) || !seen(element)) continue;
    const missing = element.scrollWidth - element.clientWidth;
    if (movable && element.matches('pre, [role=group][aria-label][tabindex="0"]')) continue;
    const flow = getComputedStyle(element).overflowX;
    if (missing <= 1 || element.clientWidth === 0 || flow === 'visible') continue;
    const how = flow === 'hidden' || flow === 'clip' ? 'cut off' : 'to be moved sideways';
    faults.add(`${missing} px ${how}: ${named(element)}`);
  }
  const edge = root.getBoundingClientRect();
  if (edge.right > innerWidth + 1) faults.add(`${edge.right - innerWidth} px beyond the window`);
  return [...faults];
}"""


def illegible(shown: Locator, *, movable: bool = False) -> list[str]:
    """What cannot be read of the element `shown` as it stands in its page: how, and where.

    On a phone, a wide table cannot fit, and wrapped machine code is hard to read. With `movable`,
    these may be moved sideways: preformatted text, and an area that has a name and that the
    keyboard reaches.
    """
    found: list[str] = shown.evaluate(_FAULTS, movable)
    return found
