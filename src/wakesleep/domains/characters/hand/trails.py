"""Pen strokes read off a skeleton: paths paired at junctions by how straight the pen goes on, then cut into arcs."""

from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float

from wakesleep.domains.characters.drawings import SIDE
from wakesleep.domains.characters.hand.skeleton import Edge, graph
from wakesleep.domains.characters.hand.strokes import MOST_BEND, Pen, Program

LOOK_POINTS = 4
"""The direction of a path at a junction is taken over this many points."""
LONE_PIXEL_STROKE_PIXELS = 0.7
"""The length of the stroke that a lone pixel begins as."""
DEVIATION_PENALTY = 2.0
"""Nats for a squared pixel of distance between a path's point and its arc, as a first guess of the likelihood."""
MOST_DRAWN_BEND = 1.2 * np.pi
"""Arcs that bend more are cut when a path is read; edits may find them later."""
READ_BRIDGE_PIXELS, READ_SPUR_PIXELS = 2.1, 1.6
"""Junctions closer than this are one, and shorter dead ends are left out, where a large drawing is read."""
READ_STEP_PIXELS, READ_ARC_COST = 0.6, 1.0
End = tuple[int, int]
"""An edge and one of its ends, 0 or 1."""


def programs(ink: Bool[np.ndarray, "y x"], rng: np.random.Generator, count: int) -> list[Program]:
    """Returns `count` programs that cover the skeleton of a drawing; the first makes the straightest turns."""
    found = []
    for i in range(count):
        spur, bridge = ((2.5, 3.0), (0.0, 2.0), (3.5, 4.0))[i % 3]
        points, edges = graph(ink, bridge, spur)
        wild = 0.0 if i < 3 else 0.5
        lonely = set(range(len(points))) - {n for e in edges for n in e.nodes}
        dots = [_dot(points[n]) for n in lonely if not _merged(points, n, edges)]
        arc_cost = (7.0, 4.0, 10.0)[(i // 3) % 3]
        pens = [cut(smooth(path), arc_cost) for path in trails(edges, rng, wild)]
        found.append(tuple(pens + dots))
    return [p for p in found if p]


def read_off(ink: Bool[np.ndarray, "h w"]) -> Program:
    """Returns the program read off a drawing of any size, in pixels of 28 x 28; it is not fitted."""
    scale = SIDE / max(ink.shape)
    points, edges = graph(ink, READ_BRIDGE_PIXELS / scale, READ_SPUR_PIXELS / scale)
    lonely = set(range(len(points))) - {n for e in edges for n in e.nodes}
    dots = [_dot(points[n] * scale) for n in lonely if not _merged(points, n, edges)]
    paths = [smooth(smooth(path)) * scale for path in trails(edges, np.random.default_rng(0), 0.0)]
    return tuple([cut(_thinned_out(path), READ_ARC_COST) for path in paths] + dots)


def _thinned_out(path: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "m 2"]:
    """Returns every so many points of a path, about one a pixel, and its last."""
    apart = np.hypot(*np.diff(path, axis=0).T).mean() if len(path) > 1 else 1.0
    every = max(round(READ_STEP_PIXELS / max(float(apart), 1e-6)), 1)
    return np.concatenate([path[:-1:every], path[-1:]])


def _merged(points: np.ndarray, n: int, edges: list[Edge]) -> bool:
    """Returns whether a node without edges is only another name of one that has some."""
    ends = [e.points[k] for e in edges for k in (0, -1)]
    return any(np.allclose(points[n], p, atol=0.1) for p in ends)


def _dot(point: Float[np.ndarray, "2"]) -> Pen:
    half = np.array([0.0, LONE_PIXEL_STROKE_PIXELS / 2])
    return Pen(np.stack([point - half, point + half]), np.zeros(1))


def trails(edges: list[Edge], rng: np.random.Generator, wild: float) -> list[Float[np.ndarray, "n 2"]]:
    """Returns paths that use every edge once; `wild` is the scale of the noise on turns, in radians."""
    partner = _paired(edges, rng, wild)
    left, found = set(range(len(edges))), []
    starts = [(i, k) for i in range(len(edges)) for k in (0, 1) if (i, k) not in partner]
    for end in [*starts, *((i, 0) for i in range(len(edges)))]:
        if end[0] not in left:
            continue
        path: list[np.ndarray] = []
        following: End | None = end
        while following is not None and following[0] in left:
            i, k = following
            left.remove(i)
            points = edges[i].points if k == 0 else edges[i].points[::-1]
            path.append(points if not path else points[1:])
            following = partner.get((i, 1 - k))
        found.append(np.concatenate(path))
    return found


def _paired(edges: list[Edge], rng: np.random.Generator, wild: float) -> dict[End, End]:
    """Returns which end of an edge goes on into which, at each node the straightest pairs first."""
    at: dict[int, list[End]] = {}
    for i, e in enumerate(edges):
        for k in (0, 1):
            if e.nodes[k] >= 0:
                at.setdefault(e.nodes[k], []).append((i, k))
    partner: dict[End, End] = {}
    limit = 0.6 * np.pi + wild * rng.normal()
    for ends in at.values():
        turns = [
            (_turn(edges, a, b) + wild * rng.normal(), a, b)
            for n, a in enumerate(ends)
            for b in ends[n + 1 :]
            if a != b
        ]
        for turn, a, b in sorted(turns, key=lambda t: t[0]):
            if a not in partner and b not in partner and (turn < limit or len(ends) == 2):
                partner[a], partner[b] = b, a
    return partner


def _turn(edges: list[Edge], a: End, b: End) -> float:
    """Returns the angle that a pen turns by which comes in along one edge and leaves along another."""
    one, two = (_away(edges[i].points, k) for i, k in (a, b))
    return float(np.arccos(np.clip(-one @ two, -1, 1)))


def _away(points: Float[np.ndarray, "n 2"], end: int) -> Float[np.ndarray, "2"]:
    """Returns the direction of a path away from one of its ends."""
    path = points if end == 0 else points[::-1]
    step = path[min(LOOK_POINTS, len(path) - 1)] - path[0]
    return step / max(float(np.hypot(*step)), 1e-9)


def smooth(path: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
    """Returns a path of pixels with the steps taken out; its ends stay."""
    for _ in range(2):
        if len(path) > 2:
            inner = (path[:-2] + 2 * path[1:-1] + path[2:]) / 4
            path = np.concatenate([path[:1], inner, path[-1:]])
    return path


def cut(path: Float[np.ndarray, "n 2"], arc_cost: float) -> Pen:
    """Returns the chain of arcs through some points of a path with the least deviation plus `arc_cost` for each arc."""
    n = len(path)
    best, before = np.zeros(n), np.zeros(n, int)
    best[1:] = np.inf
    bend_of = np.zeros((n, n))
    for i in range(n - 1):
        bends, deviation = _fitted(path, i)
        bend_of[i, i + 1 :] = bends
        total = best[i] + arc_cost + DEVIATION_PENALTY * deviation
        total[np.abs(bends) > MOST_DRAWN_BEND] = np.inf
        better = total < best[i + 1 :]
        best[i + 1 :] = np.where(better, total, best[i + 1 :])
        before[i + 1 :] = np.where(better, i, before[i + 1 :])
    stops = [n - 1]
    while stops[-1] > 0:
        stops.append(int(before[stops[-1]]))
    stops.reverse()
    bends = np.array([bend_of[a, b] for a, b in pairwise(stops)])
    return Pen(path[stops].copy(), np.clip(bends, -MOST_BEND, MOST_BEND))


def _fitted(path: Float[np.ndarray, "n 2"], i: int) -> tuple[Float[np.ndarray, "m"], Float[np.ndarray, "m"]]:
    """Returns the bend of the arc from point i to each later one, and the squared deviation of the points between.

    The arc is taken as a parabola over its chord, whose height is the least-squares one.
    """
    later = path[i + 1 :] - path[i]
    chord = np.maximum(np.hypot(*later.T), 1e-6)
    along = np.where(chord[:, None] > 1e-3, later / chord[:, None], [1.0, 0.0])  # a closed path has no chord
    t = (along @ later.T) / chord[:, None]
    n = along[:, 1:] * later[None, :, 0] - along[:, :1] * later[None, :, 1]
    between = np.tril(np.ones((len(later), len(later))), -1)
    shape = between * 4 * np.clip(t, 0, 1) * (1 - np.clip(t, 0, 1))
    height = (shape * n).sum(axis=1) / np.maximum((shape**2).sum(axis=1), 1e-6)
    beyond = np.where((t < 0) | (t > 1), np.minimum(np.abs(t), np.abs(t - 1)) * chord[:, None], 0.0)
    deviation = (between * ((n - height[:, None] * shape) ** 2 + beyond**2)).sum(axis=1)
    return 4 * np.arctan(2 * height / chord), deviation
