"""Are two drawings of the same character? Strokes of one are deformed to meet those of the other.

Both drawings are points along their strokes, with directions. The points of one are a mixture of Gaussians about the
moved points of the other, whose directions have to agree; the points move by an affine map and a smooth displacement.
The map and the displacement are fitted by EM while the Gaussians shrink.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.characters.hand.strokes import Program, along

MATCHED_POINTS = 48
"""Points of a drawing, spread evenly over the length of its strokes."""
POINTS_AN_ARC = 16
LEAST_LENGTH_PIXELS = 0.7
LEAST_WEIGHT = 1e-3
LEAST_NEARNESS = 1e-9
SHAPE_RADIUS = 8.0
"""Drawings are scaled to this root mean square distance of their points from the middle."""


class Matching(NamedTuple):
    """The settings of a match; lengths are in units in which a drawing has the radius 8."""

    spreads: tuple[float, ...] = (4.0, 3.0, 2.5, 2.0, 2.0, 1.6, 1.6, 1.3)
    """The standard deviation of the Gaussians at each round of EM."""
    final_spread: float = 0.9
    """That of the Gaussians under which points are scored in the end."""
    direction: float = 2.0
    """Nats that a direction costs which is at a right angle to that of its match."""
    stray: float = 0.02
    """The weight of points that match none, against a Gaussian's peak."""
    least_log_density: float = -6.0
    """The least that a point can score in the end, so that one stray cannot decide."""
    moved_cost: float = 0.05
    """Nats for a squared unit that a point is moved by."""
    affine_precision: float = 40.0
    """How strongly the linear map is held at the identity."""
    affine_rounds: int = 3
    """Rounds before points may leave the affine map."""
    reach: float = 5.0
    """Points within about this distance are displaced together."""
    stiffness: float = 0.5


class Shape(NamedTuple):
    """A drawing as points with directions."""

    points: Float[np.ndarray, "*b n 2"]
    steps: Float[np.ndarray, "*b n 2"]
    """Along the stroke; the length does not matter."""


class Placed(NamedTuple):
    """A shape, and where it lies in its drawing."""

    shape: Shape
    centre: Float[np.ndarray, "2"]
    scale: float
    """Pixels for a unit of the shape."""

    @classmethod
    def of(cls, program: Program) -> "Placed":
        """Returns the points of a program's strokes, centred and scaled."""
        points, steps = _strewn(program)
        centre = points.mean(axis=0)
        radius = max(float(np.sqrt(((points - centre) ** 2).sum(axis=1).mean())), 1.0)
        return cls(Shape((points - centre) * SHAPE_RADIUS / radius, steps), centre, radius / SHAPE_RADIUS)

    def inside(self, points: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
        """Returns points of the drawing in units of the shape."""
        return (points - self.centre) / self.scale

    def outside(self, points: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
        """Returns points in units of the shape as points of the drawing."""
        return points * self.scale + self.centre


def shape(program: Program) -> Shape:
    """Returns the points of a program's strokes, centred and scaled."""
    return Placed.of(program).shape


def _strewn(program: Program) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, "n 2"]]:
    """Returns points spread evenly over the strokes of a program, and the steps of the strokes about them."""
    paths = [along(p.knots, p.bends, POINTS_AN_ARC).reshape(-1, 2) for p in program]
    lengths = np.array([max(float(np.hypot(*np.diff(p, axis=0).T).sum()), LEAST_LENGTH_PIXELS) for p in paths])
    counts = np.maximum((MATCHED_POINTS * lengths / lengths.sum()).astype(int), 1)
    while counts.sum() > MATCHED_POINTS:
        counts[np.argmax(counts)] -= 1
    while counts.sum() < MATCHED_POINTS:
        counts[np.argmax(lengths / counts)] += 1
    parts = [_spaced(path, int(n)) for path, n in zip(paths, counts, strict=True)]
    points, steps = (np.concatenate(part) for part in zip(*parts, strict=True))
    return points, steps


def _spaced(path: Float[np.ndarray, "m 2"], count: int) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, "n 2"]]:
    """Returns points evenly spaced along a path, and the step of the path about each."""
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T) + 1e-9)])
    places = (np.arange(count) + 0.5) / count * length[-1]
    around = max(0.5 * length[-1] / count, 0.3)

    def at(where: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n 2"]:
        return np.stack([np.interp(where, length, path[:, k]) for k in (0, 1)], axis=-1)

    return at(places), at(places + around) - at(places - around)


def match(moving: list[Shape], target: Shape, how: Matching | None = None) -> Float[np.ndarray, "b"]:
    """Returns for each shape how well its points and the target's meet after EM, in nats a point.

    A point scores the log density of the one that it agrees with best; what the points were moved by is taken off.
    """
    how = how or Matching()
    whole = Shape(np.stack([s.points for s in moving]), np.stack([s.steps for s in moving]))
    moved = _fitted(whole, target, how)
    log_p = _agreement(moved, target, how.final_spread, how.direction)
    met = [np.maximum(log_p.max(axis=axis), how.least_log_density).mean(axis=1) for axis in (1, 2)]
    squared = ((moved.points - whole.points) ** 2).sum(axis=-1).mean(axis=1)
    return met[0] + met[1] - how.moved_cost * squared


def moved(moving: list[Shape], target: Shape) -> Shape:
    """Returns each shape moved onto the target, with a leading axis of shapes."""
    whole = Shape(np.stack([s.points for s in moving]), np.stack([s.steps for s in moving]))
    return _fitted(whole, target, Matching())


def displaced(
    points: Float[np.ndarray, "m 2"], before: Float[np.ndarray, "n 2"], after: Float[np.ndarray, "n 2"]
) -> Float[np.ndarray, "m 2"]:
    """Returns points moved as those of a shape near them were; `before` and `after` are the shape's."""
    near = np.exp(-((points[:, None] - before) ** 2).sum(axis=-1) / 2) + LEAST_NEARNESS
    return points + near @ (after - before) / near.sum(axis=1, keepdims=True)


def _fitted(whole: Shape, target: Shape, how: Matching) -> Shape:
    """Returns the shapes moved onto the target."""
    b, n, _ = whole.points.shape
    extended = np.concatenate([whole.points, np.ones((b, n, 1))], axis=-1)
    squared = ((whole.points[:, :, None] - whole.points[:, None]) ** 2).sum(axis=-1)
    kernel = np.exp(-squared / (2 * how.reach**2))
    moved, displaced = whole, np.zeros_like(whole.points)
    for i, spread in enumerate(how.spreads):
        share = _shares(_agreement(moved, target, spread, how.direction), how.stray)
        weight, pull = share.sum(axis=2), share @ target.points
        linear = _affine(extended, weight, pull - weight[..., None] * displaced, how.affine_precision * spread**2)
        mapped = extended @ linear
        if i >= how.affine_rounds:
            least = np.maximum(weight, LEAST_WEIGHT)
            stiff = how.stiffness * spread**2 * np.eye(n) / least[:, :, None]
            displaced = kernel @ np.linalg.solve(kernel + stiff, pull / least[..., None] - mapped)
        moved = Shape(mapped + displaced, whole.steps @ linear[:, :2])
    return moved


def _agreement(moved: Shape, target: Shape, spread: float, direction: float) -> Float[np.ndarray, "b n m"]:
    """Returns the log density, against its peak, of each point of the target about each moved point."""
    squared = ((moved.points[:, :, None] - target.points) ** 2).sum(axis=-1)
    aligned = _doubled(moved.steps) @ _doubled(target.steps).T
    return -squared / (2 * spread**2) + direction * (aligned - 1) / 2


def _doubled(steps: Float[np.ndarray, "*b n 2"]) -> Float[np.ndarray, "*b n 2"]:
    """Returns unit vectors of twice the angle, the same for a stroke and for the stroke backwards."""
    unit = steps / np.maximum(np.hypot(steps[..., 0], steps[..., 1]), 1e-9)[..., None]
    return np.stack([unit[..., 0] ** 2 - unit[..., 1] ** 2, 2 * unit[..., 0] * unit[..., 1]], axis=-1)


def _shares(log_p: Float[np.ndarray, "b n m"], stray: float) -> Float[np.ndarray, "b n m"]:
    """Returns the probability that each target point belongs to each moved point, and not to none."""
    density = np.exp(log_p)
    return density / (density.sum(axis=1, keepdims=True) + stray * log_p.shape[1])


def _affine(
    extended: Float[np.ndarray, "b n 3"],
    weight: Float[np.ndarray, "b n"],
    pull: Float[np.ndarray, "b n 2"],
    hold: float,
) -> Float[np.ndarray, "b 3 2"]:
    """Returns the weighted least-squares map of points, extended by 1, whose linear part is held at the identity."""
    kept = np.diag([hold, hold, LEAST_WEIGHT])
    left = np.swapaxes(extended * weight[..., None], 1, 2) @ extended + kept
    return np.linalg.solve(left, np.swapaxes(extended, 1, 2) @ pull + kept[:, :2])
