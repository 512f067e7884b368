"""Drawings stroke by stroke, in a line, on a figure and as a film."""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import FigureBase
from PIL import Image as Files

from wakesleep.domains.characters.evaluator import SIDE, Renderer, ink
from wakesleep.domains.characters.language import spell

PEN_COLOUR, INK_COLOUR, PAPER_COLOUR = "#d6221f", "#212529", "#ffffff"
PANELS_A_LINE = 6
FRAME_MILLISECONDS, LAST_MILLISECONDS, FRAME_SCALE = 350, 1500, 8


def show(z: Int[np.ndarray, "t"]) -> str:
    """Returns the numbers of the strokes."""
    return spell(np.asarray(z))


def words(x: Int[np.ndarray, "y x"]) -> list[str]:
    """Returns the rows of an image, a character a pixel."""
    return ["".join(".#"[pixel] for pixel in row) for row in np.asarray(x)]


def stages(evaluator: Renderer, z: Int[np.ndarray, "t"]) -> list[Float[np.ndarray, "y x 3"]]:
    """Returns the canvas after each drawn stroke, in colours: the newest stroke red."""
    arc, on = evaluator.place(jnp.asarray(z))
    drawn, found = np.zeros((SIDE, SIDE)), []
    for j in np.nonzero(np.asarray(on))[0]:
        layer = np.asarray(evaluator.shade(ink(arc, on & (jnp.arange(len(z)) == j)))).reshape(SIDE, SIDE)
        found.append(_colour(drawn, layer))
        drawn = np.maximum(drawn, layer)
    return found or [_colour(drawn, drawn)]


def _colour(drawn: Float[np.ndarray, "y x"], newest: Float[np.ndarray, "y x"]) -> Float[np.ndarray, "y x 3"]:
    paper, pen, black = (np.asarray(to_rgb(c)) for c in (PAPER_COLOUR, PEN_COLOUR, INK_COLOUR))
    under = paper + drawn[..., None] * (black - paper)
    return under + newest[..., None] * (pen - under)


def picture(figure: FigureBase, x: Int[np.ndarray, "y x"], programs: Any, evaluator: Any) -> None:
    """Draws the image, then the best program stroke by stroke, in lines of six panels."""
    z, probability = programs[0]
    canvases = stages(evaluator, z)
    axes = figure.subplots(1 + len(canvases) // PANELS_A_LINE, PANELS_A_LINE, squeeze=False).reshape(-1)
    for axis in axes:
        axis.axis("off")
    paint(axes[0], 1.0 - np.asarray(x)[..., None].repeat(3, axis=2), f"{100 * probability:.0f} %")
    for axis, canvas in zip(axes[1:], canvases, strict=False):
        paint(axis, canvas)


def paint(axis: Axes, canvas: Float[np.ndarray, "y x 3"], title: str = "") -> None:
    """Draws a canvas on an axis, with a frame."""
    axis.axis("on")
    axis.imshow(np.clip(canvas, 0, 1), interpolation="nearest")
    axis.set(xticks=[], yticks=[])
    for spine in axis.spines.values():
        spine.set_color("#ced4da")
    axis.set_title(title, fontsize=7)


def film(evaluator: Renderer, z: Int[np.ndarray, "t"], path: Path) -> Path:
    """Writes an animated GIF of the drawing, stroke by stroke, and returns its path."""
    canvases = [_colour(np.zeros((SIDE, SIDE)), np.zeros((SIDE, SIDE))), *stages(evaluator, z)]
    frames = [Files.fromarray((255 * np.clip(c, 0, 1)).astype(np.uint8)) for c in canvases]
    frames = [f.resize((SIDE * FRAME_SCALE, SIDE * FRAME_SCALE), Files.Resampling.NEAREST) for f in frames]
    durations = [FRAME_MILLISECONDS] * (len(frames) - 1) + [LAST_MILLISECONDS]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=durations, loop=0)
    return path
