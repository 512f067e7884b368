"""Strokes on a figure, as an SVG and as a film: each in its colour, with an arrow at its end and its number."""

from itertools import pairwise
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int8
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from PIL import Image as Files
from PIL import ImageDraw

from wakesleep.domains.characters.hand.pen import SIDE
from wakesleep.domains.characters.hand.strokes import Pen, Program, along

PEN_COLOURS = ("#c2255c", "#1b6ca8", "#2f9e44", "#e8590c", "#7048e8", "#0b7285", "#a61e4d", "#5c940d")
PAPER_COLOUR, INK_COLOUR, MISSED_COLOUR, EXTRA_COLOUR = "#ffffff", "#212529", "#e03131", "#74c0fc"
FRAME_SCALE, HAND_FRAME_MILLISECONDS, HAND_LAST_MILLISECONDS = 8, 60, 1800
FRAMES_AN_ARC = 6
SVG_SCALE, ARROW_PIXELS = 10, 1.1


def traced(pen: Pen, count: int = 24) -> Float[np.ndarray, "n 2"]:
    """Returns points along a whole pen stroke."""
    return along(pen.knots, pen.bends, count).reshape(-1, 2)


def colour_of(i: int) -> str:
    """Returns the colour of pen stroke i."""
    return PEN_COLOURS[i % len(PEN_COLOURS)]


def marked(x: Int8[np.ndarray, "y x"], shade: Float[np.ndarray, "y x"]) -> Float[np.ndarray, "y x 3"]:
    """Returns the drawn image with what differs from the given one: missed pixels red, extra ones blue."""
    drawn, given = shade > 0.5, np.asarray(x) > 0
    canvas = np.ones((*given.shape, 3)) * np.asarray(to_rgb(PAPER_COLOUR))
    for where, name in (
        (drawn & given, INK_COLOUR),
        (given & ~drawn, MISSED_COLOUR),
        (drawn & ~given, EXTRA_COLOUR),
    ):
        canvas[where] = to_rgb(name)
    return canvas


def paint(axis: Axes, canvas: Float[np.ndarray, "y x 3"], title: str = "") -> None:
    """Draws a canvas on an axis, with a frame."""
    axis.imshow(np.clip(canvas, 0, 1), interpolation="nearest", extent=(0, SIDE, SIDE, 0))
    frame(axis, title)


def frame(axis: Axes, title: str = "") -> None:
    """Gives an axis the size of an image, a thin frame and a title."""
    axis.set(xticks=[], yticks=[], xlim=(0, SIDE), ylim=(SIDE, 0), aspect="equal")
    for spine in axis.spines.values():
        spine.set_color("#ced4da")
    axis.set_title(title, fontsize=7)


def draw_strokes(axis: Axes, program: Program, numbered: bool = True, width: float = 2.0) -> None:
    """Draws the pen strokes on an axis, each with an arrow at its end and its number at its start."""
    for i, pen in enumerate(program):
        points = traced(pen)
        axis.plot(*points.T, color=colour_of(i), linewidth=width, solid_capstyle="round")
        if numbered:
            arrow = {"arrowstyle": "-|>", "color": colour_of(i), "shrinkA": 0, "shrinkB": 0, "lw": width}
            axis.annotate("", points[-1], points[-4], arrowprops=arrow)
            axis.text(points[0, 0], points[0, 1], str(i + 1), fontsize=6, color="white", ha="center", va="center",
                      bbox={"boxstyle": "circle,pad=0.15", "fc": colour_of(i), "ec": "none"})  # fmt: skip


def svg(programs: list[tuple[str, Program]]) -> str:
    """Returns the strokes of some drawings, side by side, as an SVG; its paths are arcs of circles."""
    parts = []
    for n, (name, program) in enumerate(programs):
        lines = "".join(_svg_pen(i, pen) for i, pen in enumerate(program))
        parts.append(f'<g transform="translate({n * SIDE} 0)"><title>{_escaped(name)}</title>{lines}</g>')
    size = f'width="{SIDE * SVG_SCALE * len(programs)}" height="{SIDE * SVG_SCALE}"'
    view = f'viewBox="0 0 {SIDE * len(programs)} {SIDE}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view}>{"".join(parts)}</svg>\n'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _svg_pen(i: int, pen: Pen) -> str:
    """Returns a path of arcs, an arrow's head and a number."""
    path = "M{:.2f} {:.2f}".format(*pen.knots[0])
    for begin, end, bend in zip(pen.knots[:-1], pen.knots[1:], pen.bends, strict=True):
        half = abs(bend) / 2
        radius = float(np.hypot(*(end - begin))) / (2 * np.sin(half)) if half > 1e-3 else 0.0
        arc = f"A{radius:.2f} {radius:.2f} 0 {int(half > np.pi / 2)} {int(bend > 0)} " if radius else "L"
        path += arc + "{:.2f} {:.2f}".format(*end)
    points = traced(pen)
    step = points[-1] - points[-2]
    step = step / max(float(np.hypot(*step)), 1e-6) * ARROW_PIXELS
    across = np.array([step[1], -step[0]]) * 0.7
    head = " ".join("{:.2f},{:.2f}".format(*p) for p in (points[-1] + step, points[-1] + across, points[-1] - across))
    paint = colour_of(i)
    return (
        f'<path d="{path}" fill="none" stroke="{paint}" stroke-width="0.6" stroke-linecap="round"/>'
        f'<polygon points="{head}" fill="{paint}"/>'
        f'<text x="{pen.knots[0, 0] - 1.4:.2f}" y="{pen.knots[0, 1]:.2f}" font-size="1.8" fill="{paint}">{i + 1}</text>'
    )


def film(x: Int8[np.ndarray, "y x"], program: Program, path: Path) -> Path:
    """Writes an animated GIF in which a pen draws the strokes over a faint image, and returns its path."""
    faint = 255 - 40 * np.asarray(x, np.uint8)
    ground = Files.fromarray(faint).convert("RGB").resize((SIDE * FRAME_SCALE,) * 2, Files.Resampling.NEAREST)
    frames = [ground.copy()]
    for i, pen in enumerate(program):
        points = [tuple(FRAME_SCALE * p) for p in traced(pen, FRAMES_AN_ARC)]
        for begin, end in pairwise(points):
            ImageDraw.Draw(ground).line([begin, end], fill=colour_of(i), width=FRAME_SCALE)
            frames.append(ground.copy())
    durations = [HAND_FRAME_MILLISECONDS] * (len(frames) - 1) + [HAND_LAST_MILLISECONDS]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=durations, loop=0)
    return path
