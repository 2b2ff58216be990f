"""What a page itself knows of whether a piece of it can be read: nothing cut off, nothing to be
moved sideways, enough contrast between text and its ground.

The contrast is that of the Web Content Accessibility Guidelines 2.2, 1.4.3: 4.5 to 1, for large
text 3 to 1. What is in an image is not looked at, nor the colours that JupyterLab has for code.
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

  const numbers = colour => colour.match(/[\d.]+/g).map(Number);
  const over = (front, ground) => {
    const [r, g, b, alpha = 1] = front;
    return [r, g, b].map((part, n) => alpha * part + (1 - alpha) * ground[n]);
  };
  const groundOf = element => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      layers.push(colour);
      if ((colour[3] ?? 1) === 1) break;
    }
    return layers.reverse().reduce((ground, layer) => over(layer, ground), [255, 255, 255]);
  };
  const luminance = colour => {
    const [r, g, b] = colour.map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const checkContrast = element => {
    if (element.disabled || element.closest('pre span')) return;
    const style = getComputedStyle(element);
    const ground = groundOf(element);
    const both = [luminance(over(numbers(style.color), ground)), luminance(ground)];
    const ratio = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) faults.add(`contrast ${ratio.toFixed(2)}: ${named(element)}`);
  };

  for (const element of [root, ...root.querySelectorAll('*')]) {
    if (!(element instanceof HTMLElement) || !seen(element)) continue;
    const own = [...element.childNodes].some(
      node => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '');
    if (own || element.matches('input, select, button')) checkContrast(element);
    const missing = element.scrollWidth - element.clientWidth;
    if (movable && element.matches('pre, [role=group][aria-label][tabindex="0"]')) continue;
    const flow = getComputedStyle(element).overflowX;
    if (missing <= 1 || element.clientWidth === 0 || flow === 'visible') continue;
    const how = flow === 'hidden' || flow === 'clip' ? 'cut off' : 'to be moved sideways';
    faults.add(`${missing} px ${how}: ${named(element)}`);
  }
  const edge = root.getBoundingClientRect();
  for (const image of root.querySelectorAll('img')) {
    if (seen(image) && !image.alt.trim()) faults.add('an image without words');
  }
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
