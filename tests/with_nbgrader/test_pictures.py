"""Pictures in answers: an honest one is kept, and of any other there is a reason."""

from __future__ import annotations

import base64
import io
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import nbformat
import pytest
from PIL import Image, PngImagePlugin

from bench.fuzz import good_inputs, hostile
from grader.submissions.submitted_notebook import kept_pictures, read_submitted, rebuild
from labs.limits import MOST_PICTURE_BYTES, MOST_PICTURES


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def picture(kind: str = "PNG", size: tuple[int, int] = (30, 20), **more: Any) -> str:
    file = io.BytesIO()
    Image.new("RGB", size, (200, 30, 30)).save(file, format=kind, **more)
    return encoded(file.getvalue())


def decoded(text: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(text)), formats=["PNG"])


def png_of(width: int, height: int, rows: bytes) -> bytes:
    """A PNG whose header states any size at all."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_pasted_picture_is_kept_as_png(kind: str) -> None:
    kept, reasons = kept_pictures({"image.png": {f"image/{kind.lower()}": picture(kind)}})
    assert not reasons
    red, green, blue = decoded(kept["image.png"]["image/png"]).convert("RGB").getpixel((5, 5))  # type: ignore[misc]
    assert red > 150 > 80 > max(green, blue)


def test_transparent_parts_stay_transparent() -> None:
    file = io.BytesIO()
    Image.new("RGBA", (4, 4), (1, 2, 3, 0)).save(file, format="PNG")
    kept, _ = kept_pictures({"a": {"image/png": encoded(file.getvalue())}})
    assert decoded(kept["a"]["image/png"]).getpixel((0, 0)) == (1, 2, 3, 0)


def test_a_large_picture_is_made_smaller() -> None:
    kept, _ = kept_pictures({"a": {"image/png": picture(size=(4_000, 2_000))}})
    assert decoded(kept["a"]["image/png"]).size == (1_200, 600)


def test_nothing_but_pixels_is_kept() -> None:
    text = PngImagePlugin.PngInfo()
    text.add_text("comment", "<script>alert(1)</script>")
    kept, _ = kept_pictures({"a": {"image/png": picture(pnginfo=text)}})
    assert b"script" not in base64.b64decode(kept["a"]["image/png"])


def test_what_is_no_picture_is_left_out_with_a_reason() -> None:
    for content, reason in (
        ({"image/svg+xml": "<svg onload='alert(1)'/>"}, "neither PNG"),
        ({"image/png": 7}, "neither PNG"),
        ("no mapping", "neither PNG"),
        ({"image/png": "%%%"}, "damaged"),
        ({"image/png": encoded(b"MZ" + bytes(400))}, "damaged"),
        ({"image/png": picture("JPEG")}, "damaged"),
        ({"image/png": picture()[:60]}, "damaged"),
        ({"image/png": encoded(png_of(60_000, 60_000, bytes(100)))}, "60000 times 60000|damaged"),
        ({"image/png": encoded(png_of(9_000, 9_000, bytes(100)))}, "9000 times 9000 pixels"),
        ({"image/png": "A" * (2 * MOST_PICTURE_BYTES)}, "larger than 6 MB"),
    ):
        kept, reasons = kept_pictures({"good": {"image/png": picture()}, "bad": content})
        assert list(kept) == ["good"], content
        assert len(reasons) == 1, content
        assert any(each in reasons[0] for each in reason.split("|"))


def test_anything_may_stand_in_the_place_of_the_pictures() -> None:
    for attachments in (None, 7, "text", [1], {}, {1: 2}):
        assert kept_pictures(attachments)[0] == {}


def test_of_many_pictures_the_first_are_kept() -> None:
    many = {f"{number}.png": {"image/png": picture()} for number in range(MOST_PICTURES + 5)}
    kept, reasons = kept_pictures(many)
    assert list(kept) == list(many)[:MOST_PICTURES]
    assert len(reasons) == 1


def test_an_answer_and_what_stands_elsewhere_have_room_for_the_same_few(tmp_path: Path) -> None:
    """A stranger's notebook may have a thousand cells, each with eight enormous pictures."""
    (case,) = (each for each in hostile.cases() if each.name == "pictures of many pixels")
    large = json.loads(case.content())
    for cell in large["cells"]:
        small = {f"{n}": {"image/png": picture()} for n in range(MOST_PICTURES)}
        cell["attachments"] = small
    (tmp_path / "lab.ipynb").write_text(json.dumps(large))
    asked = nbformat.from_dict(good_inputs.released())  # type: ignore[no-untyped-call]
    rebuilt = rebuild(asked, read_submitted(tmp_path / "lab.ipynb"))
    held = [len(cell.get("attachments", {})) for cell in rebuilt.notebook.cells]
    assert max(held) == MOST_PICTURES
