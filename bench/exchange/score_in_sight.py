"""Whether a person sees a score on a page: it lies in the window, nothing covers it, and its pixels
are those that the same score has on the page of an honest student.
"""

from __future__ import annotations

import io
import itertools
import re
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Locator, Page

from bench.exchange.recorded_browser import HEIGHT, WIDTH

#: Two pictures of one text differ in fewer pixels than this share; one other digit is far more.
_MOST_DIFFERING = 0.002
#: Steps of grey between two pixels that look different.
_DIFFERENT = 60

#: Brings a score into sight, and says where it is and what is wrong with its place.
_LOOK = """element => {
  element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  if (document.activeElement) document.activeElement.blur();
  const troubles = [];
  if (window.scrollX) {
    troubles.push('lies beyond the window');
    window.scrollTo({ left: 0, top: window.scrollY, behavior: 'instant' });
  }
  const within = document.createRange();
  within.selectNodeContents(element);
  const input = element.matches('input') ? element : null;
  let { left, right, top, bottom } = (input || within).getBoundingClientRect();
  // A frame is drawn on whole pixels, its text is not: they move against each other.
  if (input) [left, right, top, bottom] = [left + 4, right - 4, top + 4, bottom - 4];
  if (right - left < 4 || bottom - top < 4) troubles.push('has no size');
  else if (left < 0 || right > innerWidth || top < 0 || bottom > innerHeight) {
    troubles.push('lies beyond the window');
  } else {
    const covers = new Set();
    for (const x of [0.1, 0.5, 0.9]) for (const y of [0.2, 0.5, 0.8]) {
      const found = document.elementFromPoint(left + x * (right - left), top + y * (bottom - top));
      if (!found || !(element.contains(found) || found.contains(element))) {
        covers.add(found ? found.tagName.toLowerCase() : 'nothing');
      }
    }
    if (covers.size) troubles.push(`is covered by ${[...covers].join(', ')}`);
  }
  return { troubles, left, top, right, bottom };
}"""

#: Writes a score into its place, as nbgrader does.
_WRITE = """(element, score) => {
  if (element.matches('input')) {
    element.value = score.manual ?? '';
    element.placeholder = score.auto ?? '';
    element.classList.toggle('needs_manual_grade', score.needs);
    return;
  }
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    node.data = node.data.replace(/-?[\\d.]+ \\/ [\\d.]+/, score.text);
  }
}"""


#: Moves a text by a part of a pixel, as other words before it do: its letters then look different.
_MOVE = """(element, part) => {
  if (element.matches('input')) return;
  element.style.position = 'relative';
  element.style.left = '0px';
  const within = document.createRange();
  within.selectNodeContents(element);
  const { left } = within.getBoundingClientRect();
  element.style.left = `${(part - (left % 1) + 1) % 1}px`;
}"""


@dataclass(frozen=True)
class Score:
    """What must be seen: `text`, or in a field of the formgrader `auto`, `manual` and `needs`."""

    text: str = ""
    auto: float | None = None
    manual: float | None = None
    needs: bool = False

    def with_another_digit(self) -> Score:
        """A score that differs in one digit."""
        text = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), self.text, count=1)
        return replace(self, text=text, auto=((self.auto or 0) + 1) % 10)


Picture = NDArray[np.int16]


def looked_at(box: Locator) -> tuple[list[str], Picture, float]:
    """What is wrong with the place of a score, its picture in grey, and its part of a pixel."""
    found = box.evaluate(_LOOK)
    part = float(found["left"]) % 1
    if found["left"] >= WIDTH or found["right"] <= 0:
        return list(found["troubles"]), np.zeros((0, 0), np.int16), part
    left, top = max(0, int(found["left"])), max(0, int(found["top"]))
    width = max(4, min(int(found["right"]) + 1, WIDTH) - left)
    height = max(4, min(int(found["bottom"]) + 1, HEIGHT) - top)
    png = box.page.screenshot(clip={"x": left, "y": top, "width": width, "height": height})
    with Image.open(io.BytesIO(png)) as image:
        grey = np.asarray(image.convert("L"), dtype=np.int16)
    return list(found["troubles"]), grey, part


def alike(one: Picture, other: Picture) -> bool:
    """Whether two pictures show the same, up to a pixel of place."""
    sizes = [abs(a - b) for a, b in zip(one.shape, other.shape, strict=True)]
    if not one.size or not other.size or max(sizes) > 1:
        return False
    height, width = (min(a, b) - 2 for a, b in zip(one.shape, other.shape, strict=True))
    middle = one[1 : 1 + height, 1 : 1 + width]
    shares = (
        (np.abs(middle - other[y : y + height, x : x + width]) > _DIFFERENT).mean()
        for y, x in itertools.product(range(3), range(3))
        if y + height <= other.shape[0] and x + width <= other.shape[1]
    )
    return bool(min(shares) < _MOST_DIFFERING)


@dataclass
class Honest:
    """The page of an honest student, on which every score can be written to see how it looks."""

    page: Page
    _known: dict[tuple[str, Score, float], Picture] = field(default_factory=dict)

    def picture(self, name: str, box: Locator, score: Score, part: float) -> Picture:
        """How `score` looks in this box, of which `name` is the name on all pages.

        `part` is the part of a pixel at which it begins.
        """
        if (name, score, part) not in self._known:
            box.evaluate(_WRITE, score.__dict__)
            box.evaluate(_MOVE, part)
            troubles, picture, _ = looked_at(box)
            box.evaluate(_WRITE, score.with_another_digit().__dict__)
            if troubles or alike(looked_at(box)[1], picture):
                raise AssertionError(f"{name} cannot be seen on an honest page: {troubles}")
            self._known[name, score, part] = picture
        return self._known[name, score, part]


def troubles_with(name: str, box: Locator, honest: Honest, same: Locator, score: Score) -> str:
    """What is wrong with one score of a page; "" if it is seen as it must be.

    `same` is the place of it on the honest page.
    """
    if (count := box.count()) != 1:
        return f"{name}: {count} places for one score"
    troubles, picture, part = looked_at(box)
    try:
        expected = honest.picture(name, same, score, part)
    except AssertionError as error:
        troubles.append(str(error))
    else:
        if not alike(picture, expected):
            troubles.append("does not look as on an honest page")
    return f"{name} {' and '.join(troubles)}" if troubles else ""
