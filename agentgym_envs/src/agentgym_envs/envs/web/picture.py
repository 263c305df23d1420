"""Pictures of the part of a page in view, for models with vision.

Boxes with numbers mark the elements. A picture can be converted to an array of pixels.
"""

import io
from collections.abc import Sequence
from typing import Any

from agentgym_envs.envs.web.tree import MarkedElement
from agentgym_envs.errors import MissingExtra

# White figures can be read on all of these colours.
COLOURS = (
    "#c00000",
    "#0050c8",
    "#007830",
    "#8000a0",
    "#a05000",
    "#006878",
)
LINE = 2  # width in pixels
SIZE = 13  # height of the figures in pixels


def draw(png: bytes, marks: Sequence[MarkedElement]) -> bytes:
    """Returns a picture with a numbered box around each element.

    The number stands above the left end of the box, or inside a box at the upper edge. The boxes
    are drawn into the picture: the page does not change, and its scripts cannot notice them.

    Args:
        png: the picture, a PNG file.
        marks: the elements.

    Returns:
        A PNG file.
    """
    image = _open(png)
    from PIL import ImageDraw, ImageFont

    pen, font = ImageDraw.Draw(image), ImageFont.load_default(SIZE)
    for mark in marks:
        colour = COLOURS[mark.number % len(COLOURS)]
        left, top = max(mark.box.left, 0.0), max(mark.box.top, 0.0)
        right = min(mark.box.left + mark.box.width, image.width) - 1
        bottom = min(mark.box.top + mark.box.height, image.height) - 1
        if right < left or bottom < top:
            continue
        pen.rectangle((left, top, right, bottom), outline=colour, width=LINE)
        _, _, width, height = pen.textbbox((0, 0), str(mark.number), font=font)
        x, y = min(left, image.width - width - 4), top - height - 2
        y = y if y >= 0 else top
        pen.rectangle((x, y, x + width + 3, y + height + 1), fill=colour)
        pen.text((x + 2, y), str(mark.number), fill="white", font=font)
    drawn = io.BytesIO()
    image.save(drawn, "PNG", compress_level=1)
    return drawn.getvalue()


def pixels(png: bytes) -> Any:
    """Returns a PNG picture as an array of height × width × 3 bytes."""
    import numpy

    return numpy.asarray(_open(png))


def _open(png: bytes) -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtra("a picture with marks or as an array", "web") from error
    return Image.open(io.BytesIO(png)).convert("RGB")
