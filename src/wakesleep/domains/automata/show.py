"""Rules in words and pictures."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import FigureBase
from matplotlib.patches import Rectangle

from wakesleep.core.memory import Weighted
from wakesleep.domains.automata.evaluator import ABSENT, NoisyAutomaton, Picture, patterns
from wakesleep.domains.automata.language import Rule, number, widen

INK_COLOUR, PAPER_COLOUR, EDGE_COLOUR = "#212529", "#ffffff", "#868e96"
FLIPPED_COLOUR, FLIPPED_TO_0_COLOUR = "#d6221f", "#ff8f87"
MOST_SPELLED, MOST_ICONS, MOST_RULES_DRAWN = 3, 5, 3
LEAST_PROBABILITY_DRAWN = 0.005


def show(z: Rule) -> str:
    """Returns the rule's number and, for few neighbours, what each pattern becomes, such as 110>1."""
    size = int(z.size)
    name = f"rule {number(z):#x}" if size > MOST_SPELLED else f"rule {number(z)}"
    words = f"{name} of {size} neighbour{'s' * (size > 1)}"
    if size > MOST_SPELLED:
        return words
    outcomes = [f"{n:0{size}b}>{int(z.table[n])}" for n in reversed(range(2**size))]
    return f"{words} ({' '.join(outcomes)})"


def words(x: Picture) -> list[str]:
    """Returns the rows of an image, a character a cell."""
    image = np.asarray(x.image)
    return ["".join("01"[cell] for cell in row if cell != ABSENT) for row in image if row[0] != ABSENT]


def flipped(x: Picture, z: Rule, sizes: tuple[int, ...]) -> tuple[float, float]:
    """Returns the number of cells that are not what the rule says, and the number of all cells."""
    counts = np.asarray(x.counts)
    outcomes = np.asarray(widen(Rule(jnp.asarray(z.size), jnp.asarray(z.table)), sizes))
    wrong = np.where(outcomes == 1, counts[:, 0], counts[:, 1]).sum()
    return float(wrong), float(counts.sum())


def noise(x: Picture, z: Rule, sizes: tuple[int, ...]) -> tuple[float, float]:
    """Returns the mean and standard deviation of an image's own noise under the rule, from a flat prior."""
    wrong, cells = flipped(x, z, sizes)
    a, b = 1 + wrong, 1 + cells - wrong
    return a / (a + b), float(np.sqrt(a * b / ((a + b) ** 2 * (a + b + 1))))


def remarks(x: Picture, z: Rule) -> str:
    """Returns the image's own noise under the rule, with its uncertainty."""
    mean, spread = noise(x, z, sizes_of(x, z))
    return f"noise {100 * mean:.2f} ± {100 * spread:.2f} %"


def sizes_of(x: Picture, z: Rule) -> tuple[int, ...]:
    """Returns the sizes from the rule's to the widest that the image was counted for."""
    widest = int(np.log2(x.counts.shape[0]))
    return tuple(range(int(z.size), widest + 1, 2))


def picture(figure: FigureBase, x: Picture, programs: Any, evaluator: Any) -> None:
    """Draws the image, and beside it the number, noise and icons of the best programs."""
    programs = [p for i, p in enumerate(programs[:MOST_RULES_DRAWN]) if i == 0 or p[1] >= LEAST_PROBABILITY_DRAWN]
    grid = figure.add_gridspec(len(programs), 2, width_ratios=(1, 1.8), hspace=0.35)
    cells(figure.add_subplot(grid[:, 0]), np.asarray(x.image))
    for row, (z, probability) in enumerate(programs):
        axis = figure.add_subplot(grid[row, 1])
        sizes = sizes_of(x, z)
        seen = np.asarray(x.counts).sum(axis=1) if len(sizes) == 1 else None
        icons(axis, z, seen)
        mean, spread = noise(x, z, sizes)
        title = (
            f"rule {name(z)} of {int(z.size)}, {100 * probability:.0f} %; noise {100 * mean:.1f} ± {100 * spread:.1f} %"
        )
        axis.set_title(title, fontsize=9, loc="left")


def name(z: Rule) -> str:
    """Returns the rule's number, in hexadecimal where it is long, with its middle left out where it is very long."""
    if int(z.size) <= MOST_SPELLED:
        return str(number(z))
    digits = f"{number(z):#x}"
    return digits if int(z.size) <= MOST_ICONS else f"{digits[:6]}…{digits[-4:]}"


def cells(axis: Axes, image: Int[np.ndarray, "h w"], wrong: Bool[np.ndarray, "h w"] | None = None) -> None:
    """Draws an image, dark for 1; absent cells are grey, wrong ones red, lighter for 0."""
    colours = np.where(image == ABSENT, 0.8, 1.0 - np.maximum(image, 0))[..., None].repeat(3, axis=2)
    if wrong is not None:
        colours[wrong] = np.where(image[wrong][:, None] == 1, to_rgb(FLIPPED_COLOUR), to_rgb(FLIPPED_TO_0_COLOUR))
    axis.imshow(colours, interpolation="nearest")
    axis.set(xticks=[], yticks=[])


def wrong_cells(image: Int[np.ndarray, "h w"], z: Rule) -> Bool[np.ndarray, "h w"]:
    """Returns a mask of the cells that differ from what the rule makes of the column before."""
    said = np.asarray(z.table)[np.asarray(patterns(image, int(z.size)))[:, :-1]]
    return np.pad(said != image[:, 1:], ((0, 0), (1, 0)))


def icons(axis: Axes, z: Rule, seen: Float[np.ndarray, "p"] | None = None) -> None:
    """Draws each pattern of neighbours as a column, with the cell that it becomes to its right.

    Patterns that never occur in an image, by the counts in `seen`, are faded: the image says nothing of them.
    """
    size = int(z.size)
    if size > MOST_ICONS:
        _outcomes(axis, z)
        return
    places = 2**size
    across = min(places, 8 if size <= MOST_SPELLED else 16)
    for n in range(places):
        left, top = (places - 1 - n) % across * 3.4, (places - 1 - n) // across * (size + 1.5)
        faint = 0.25 if seen is not None and seen[n] == 0 else 1.0
        column = [n >> (size - 1 - j) & 1 for j in range(size)]
        for j, value in enumerate(column):
            _cell(axis, left, top + j, value, faint)
        _cell(axis, left + 1.3, top + size // 2, int(z.table[n]), faint)
    rows = -(-places // across)
    axis.set(xlim=(-0.6, across * 3.4 - 0.6), ylim=(rows * (size + 1.5), -0.6), aspect="equal")
    axis.axis("off")


def _outcomes(axis: Axes, z: Rule) -> None:
    """Draws the outcomes alone, the last first, sixteen a row, where there are too many patterns."""
    table = np.asarray(z.table)[::-1].reshape(-1, 16)
    axis.imshow(1 - table, cmap="gray", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    axis.set(xticks=[], yticks=[])


def _cell(axis: Axes, left: float, top: float, value: int, faint: float) -> None:
    colour = INK_COLOUR if value else PAPER_COLOUR
    axis.add_patch(Rectangle((left, top), 1, 1, facecolor=colour, edgecolor=EDGE_COLOUR, linewidth=0.6, alpha=faint))


def extrapolate(
    key: Key[Array, ""], evaluator: NoisyAutomaton, x: Picture, q: Weighted, columns: int
) -> Int[np.ndarray, "h w"]:
    """Returns the image continued to the right by a rule drawn from Q, with the learned noise."""
    key_rule, key_grow = jax.random.split(key)
    image = np.asarray(x.image)
    image = image[image[:, 0] != ABSENT][:, image[0] != ABSENT]
    slot = jax.random.categorical(key_rule, q.log_weight)
    z = jax.tree.map(lambda a: a[slot], q.programs)
    grown = evaluator.grow(key_grow, jnp.asarray(image[:, -1]), z, columns)
    return np.concatenate([image, np.asarray(grown)], axis=1)
