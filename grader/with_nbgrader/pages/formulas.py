"""Formulas of an answer as pictures: each is a box of its own size and can cover nothing.

A page that typesets TeX in the browser lets a formula draw over the scores around it, and loads the
program that typesets. matplotlib's mathtext knows the TeX of formulas and no commands that draw.
"""

from __future__ import annotations

import base64
import io
from functools import lru_cache

from labs.common.html import inline
from labs.common.limits import MOST_FORMULA

#: In points: matplotlib counts 72 to an inch, and so many are as high as the text of a page.
_SIZE, _DPI = 11, 72
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_FORMULA = (
    '<img alt="{{ alt }}" title="{{ alt }}" src="{{ picture }}"'
    ' width="{{ width }}" height="{{ height }}">'
)


def formula(tex: str) -> tuple[str, str]:
    """The HTML of a formula and the address of its picture; "" where it is shown as its source.

    It is shown as its source where it is too long or mathtext does not know one of its commands.
    """
    drawn = _drawn(tex.strip()) if len(tex) <= MOST_FORMULA else None
    if drawn is None:
        return inline("<code>{{ tex }}</code>", tex=tex), ""
    picture, width, height = drawn
    page = inline(_FORMULA, alt=tex.strip(), picture=picture, width=width, height=height)
    return page, picture


@lru_cache(maxsize=1_000)
def _drawn(tex: str) -> tuple[str, int, int] | None:
    """The address of the picture, and its width and height in pixels of a page."""
    # Here: it takes longer than the pages of a whole class without a formula.
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser

    text = "$" + tex.replace("$", r"\$").replace("\n", " ") + "$"
    font, file = FontProperties(size=_SIZE), io.BytesIO()
    try:
        width, height, depth, *_ = MathTextParser("path").parse(text, dpi=_DPI, prop=font)
        figure = Figure(figsize=(max(width, 1) / _DPI, max(height, 1) / _DPI))
        figure.text(0, depth / max(height, 1), text, fontproperties=font)
        with mpl.rc_context({"svg.hashsalt": "formula"}):
            figure.savefig(file, format="svg", transparent=True, metadata=_NO_METADATA)
    # The parser raises exceptions of many kinds, also for too deep nesting.
    except (ValueError, RecursionError, RuntimeError, ArithmeticError, LookupError):
        return None
    pixels = 96 / _DPI
    address = "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode("ascii")
    return address, round(max(width, 1) * pixels), round(max(height, 1) * pixels)
