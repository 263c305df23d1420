"""The style of all plots: one size of letters, readable on a phone, in light and dark colours."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler
from PIL import Image

WIDTH = 560
"""Width of a plot on a page in CSS pixels. A point of the plot is one of these pixels."""
LETTERS = 15
"""Size of all letters in points. A phone shows a page of 390 CSS pixels: they have 9 there."""
SCALE = 2
"""Pixels of the file for each CSS pixel."""
CURVES = 4
"""Maximum number of curves of a panel."""
LIGHT = {
    "page": "#ffffff",
    "ink": "#1f2328",
    "quiet": "#d5dae0",
    "curves": ["#0969da", "#bc4c00", "#1a7f37", "#8250df"],
}
DARK = {
    "page": "#0d1117",
    "ink": "#d1d7e0",
    "quiet": "#3d444d",
    "curves": ["#58a6ff", "#f0883e", "#3fb950", "#bc8cff"],
}


def figure(height: float) -> Figure:
    """Returns an empty figure of the common width.

    Args:
        height: in CSS pixels.
    """
    made = Figure(figsize=(WIDTH / 72, height / 72), layout="constrained")
    FigureCanvasAgg(made)
    return made


def style(*, dark: bool = False) -> dict[str, Any]:
    """Returns the settings of matplotlib."""
    colours: dict[str, Any] = DARK if dark else LIGHT
    inked = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    filled = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    sized = ("axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize")
    return {
        **dict.fromkeys(inked, colours["ink"]),
        **dict.fromkeys(filled, colours["page"]),
        **dict.fromkeys((*sized, "font.size", "legend.fontsize", "figure.titlesize"), LETTERS),
        "axes.prop_cycle": cycler(color=colours["curves"], marker=["o", "s", "^", "D"]),
        "axes.grid": True,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "grid.color": colours["quiet"],
        "grid.linewidth": 0.8,
        "legend.frameon": False,
        "legend.handlelength": 1.5,
        "lines.linewidth": 2,
        "lines.markersize": 5,
        "savefig.dpi": 72 * SCALE,
    }


def save(path: Path, draw: Callable[[], Figure], *, dark: bool = False) -> None:
    """Draws a figure and writes it.

    Args:
        path: the image file.
        draw: makes the figure. It takes all colours from matplotlib's settings.
        dark: use the colours of dark pages.
    """
    with matplotlib.rc_context(style(dark=dark)):
        draw().savefig(path)


def save_both(path: Path, draw: Callable[[], Figure]) -> None:
    """Writes a figure to ``NAME.png``, and with the colours of dark pages to ``NAME-dark.png``.

    The files have a palette, so they are small enough for a repository.
    """
    for file in (path, path.with_stem(f"{path.stem}-dark")):
        save(file, draw, dark=file != path)
        with Image.open(file) as image:
            small = image.convert("RGB").quantize(64)
        small.save(file, optimize=True)
