"""Pictures that a student pasted into an answer: a few, of limited size, and drawn anew as PNG.

A picture file may be a program for the software that shows it, or small and enormous once unpacked.
So we keep the pixels alone: we read the file with Pillow, as one of the formats in which browsers
paste, and write them again.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping

from PIL import Image

from labs.common.limits import MOST_PICTURE_BYTES, MOST_PICTURE_PIXELS, MOST_PICTURES

_FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}
#: Wider and higher than a page shows. A picture with more is made smaller.
_LONGEST_SIDE = 1_200

#: As in a notebook: for each name, the contents in base64 by media type.
Attachments = dict[str, dict[str, str]]


def kept_pictures(attachments: object) -> tuple[Attachments, list[str]]:
    """The pictures of a cell's `attachments`, each as PNG, and a reason for each that was left out.

    `attachments` may be anything at all. Never raises.
    """
    if not isinstance(attachments, Mapping):
        return {}, []
    kept: Attachments = {}
    reasons = []
    for number, (name, content) in enumerate(attachments.items()):
        if not isinstance(name, str) or number >= MOST_PICTURES:
            reasons.append(f"more than {MOST_PICTURES} pictures in one answer")
            break
        try:
            kept[name] = {"image/png": _as_png(content)}
        except ValueError as error:
            reasons.append(f"a picture was left out: {error}")
    return kept, reasons


def _as_png(content: object) -> str:
    """The base64 of a PNG of this picture. Raises ValueError with the reason if there is none."""
    by_type = content if isinstance(content, Mapping) else {}
    known = [kind for kind in _FORMATS if isinstance(by_type.get(kind), str)]
    if not known:
        raise ValueError("it is neither PNG, JPEG, GIF nor WebP")
    text = by_type[known[0]]
    if len(text) > MOST_PICTURE_BYTES * 4 // 3 + 4:
        raise ValueError(f"it is larger than {MOST_PICTURE_BYTES // 1_000_000} MB")
    made = io.BytesIO()
    # Pillow's decoders raise exceptions of many kinds.
    try:
        file = io.BytesIO(base64.b64decode(text))
        with Image.open(file, formats=[_FORMATS[known[0]]]) as picture:
            pixels = _pixels(picture)
        # Only the pixels: no text, no colour profile, no other part of the file.
        Image.frombytes(pixels.mode, pixels.size, pixels.tobytes()).save(made, format="PNG")
    except _TooLargeError:
        raise
    except Exception as error:
        raise ValueError("its file is damaged") from error
    return base64.b64encode(made.getvalue()).decode("ascii")


class _TooLargeError(ValueError):
    """The picture has too many pixels."""


def _pixels(picture: Image.Image) -> Image.Image:
    """The picture without transparency by palette, and not larger than a page shows it."""
    width, height = picture.size
    # Only the header was read until here; the next step unpacks the pixels.
    if width * height > MOST_PICTURE_PIXELS:
        raise _TooLargeError(f"it has {width} times {height} pixels")
    pixels = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
    pixels.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    return pixels
