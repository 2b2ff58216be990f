"""What a page itself knows of whether a piece of it can be read: nothing cut off, and nothing to be
moved sideways. Contrast and words for images are for axe-core (accessible.py).
"""

from __future__ import annotations

from playwright.sync_api import Locator

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


def faults(shown: Locator, *, movable: bool = False) -> list[str]:
    """What cannot be read of the element `shown` as it stands in its page: how, and where.

    On a phone, a wide table cannot fit, and wrapped machine code is hard to read. With `movable`,
    these may be moved sideways: preformatted text, and an area that has a name and that the
    keyboard reaches.
    """
    found: list[str] = shown.evaluate(_FAULTS, movable)
    return found
