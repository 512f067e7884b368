"""The skeleton of a drawing: lines of one pixel, and the graph of its ends, junctions and the paths between."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.ndimage import label

AROUND = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
"""The eight neighbours of a pixel, rows first, in a circle from the one above."""
Pixel = tuple[int, int]


class Edge(NamedTuple):
    """A path of the skeleton between two nodes, its points from the one to the other; a loop has the same twice."""

    nodes: tuple[int, int]
    points: Float[np.ndarray, "n 2"]


def thin(ink: Bool[np.ndarray, "y x"]) -> Bool[np.ndarray, "y x"]:
    """Returns the ink thinned to lines of one pixel (Zhang and Suen, 1984)."""
    here = np.pad(np.asarray(ink, bool), 1)
    changed = True
    while changed:
        changed = False
        for phase in (0, 1):
            n = [np.roll(here, (-dy, -dx), (0, 1)) for dy, dx in AROUND]
            count = np.sum(n, axis=0)
            rises = np.sum([~n[i] & n[(i + 1) % 8] for i in range(8)], axis=0)
            one, two = ((0, 2, 4), (2, 4, 6)) if phase == 0 else ((0, 2, 6), (0, 4, 6))
            bare = ~(n[one[0]] & n[one[1]] & n[one[2]]) & ~(n[two[0]] & n[two[1]] & n[two[2]])
            gone = here & (count >= 2) & (count <= 6) & (rises == 1) & bare
            here = here & ~gone
            changed = changed or bool(gone.any())
    return _with_dots(here[1:-1, 1:-1], np.asarray(ink, bool))


def _with_dots(line: Bool[np.ndarray, "y x"], ink: Bool[np.ndarray, "y x"]) -> Bool[np.ndarray, "y x"]:
    """Returns the lines with a pixel for each patch of ink that thinning left nothing of, such as a square of four."""
    patches, count = label(ink, np.ones((3, 3)))
    for lost in set(range(1, count + 1)) - set(patches[line].tolist()):
        line[tuple(np.argwhere(patches == lost).mean(axis=0).astype(int))] = True
    return line


def graph(ink: Bool[np.ndarray, "y x"], bridge: float = 2.5, spur: float = 0.0) -> tuple[np.ndarray, list[Edge]]:
    """Returns the nodes' points and the edges of a drawing's skeleton.

    Junctions that a path of less than `bridge` pixels joins become one; dead ends shorter than `spur` are left out.
    """
    line = thin(ink)
    pixels = {(int(y), int(x)) for y, x in np.argwhere(line)}
    links = {p: _linked(p, pixels) for p in pixels}
    node_of = _junctions(pixels, links)
    for p in sorted(pixels):
        if p not in node_of and len(links[p]) != 2:
            node_of[p] = max(node_of.values(), default=-1) + 1
    points = _centres(node_of)
    edges = _traced(pixels, links, node_of, points)
    return _simplified(points, edges, bridge, spur)


def _linked(p: Pixel, pixels: set[Pixel]) -> list[Pixel]:
    """Returns the neighbours of a pixel; a diagonal one counts only where no straight one leads there."""
    found = []
    for dy, dx in AROUND:
        q = (p[0] + dy, p[1] + dx)
        around = (p[0] + dy, p[1]) in pixels or (p[0], p[1] + dx) in pixels
        if q in pixels and not (dy and dx and around):
            found.append(q)
    return found


def _junctions(pixels: set[Pixel], links: dict[Pixel, list[Pixel]]) -> dict[Pixel, int]:
    """Returns the number of the junction that a pixel belongs to; adjacent pixels of junctions are one."""
    crossing = {p for p in pixels if len(links[p]) >= 3}
    node_of: dict[Pixel, int] = {}
    for p in sorted(crossing):
        if p in node_of:
            continue
        number, queue = len(set(node_of.values())), [p]
        while queue:
            q = queue.pop()
            if q not in node_of:
                node_of[q] = number
                queue += [r for r in links[q] if r in crossing]
    return node_of


def _centres(node_of: dict[Pixel, int]) -> np.ndarray:
    """Returns the middle of each node's pixels, x and y."""
    count = max(node_of.values(), default=-1) + 1
    members = [[p for p, n in node_of.items() if n == k] for k in range(count)]
    return np.array([np.mean(m, axis=0)[::-1] + 0.5 for m in members]).reshape(-1, 2)


def _traced(
    pixels: set[Pixel], links: dict[Pixel, list[Pixel]], node_of: dict[Pixel, int], points: np.ndarray
) -> list[Edge]:
    """Returns the paths between nodes, and the loops that have none, cut at one of their pixels."""
    edges, seen = [], set()
    for p in sorted(node_of):
        for q in links[p]:
            if node_of.get(q) == node_of[p] or (p, q) in seen:
                continue
            path = [p, q]
            while path[-1] not in node_of:
                path.append(next(r for r in links[path[-1]] if r != path[-2]))
            seen |= {(path[0], path[1]), (path[-1], path[-2])}
            seen_points = np.array(path, float)[:, ::-1] + 0.5
            ends = (node_of[path[0]], node_of[path[-1]])
            seen_points[0], seen_points[-1] = points[ends[0]], points[ends[1]]
            edges.append((ends, seen_points, path))
    visited = {p for *_, path in edges for p in path} | set(node_of)
    found = [Edge(ends, pts) for ends, pts, _ in edges]
    return found + _loops(pixels - visited, links)


def _loops(left: set[Pixel], links: dict[Pixel, list[Pixel]]) -> list[Edge]:
    """Returns closed paths of pixels without a node; the node of such a loop is -1."""
    found = []
    while left:
        path = [min(left)]
        while True:
            on = [r for r in links[path[-1]] if r in left and r not in path[1:] and (len(path) < 2 or r != path[-2])]
            path.append(on[0] if on else path[0])
            if path[-1] == path[0]:
                break
        left = left - set(path)
        found.append(Edge((-1, -1), np.array(path, float)[:, ::-1] + 0.5))
    return found


def length(points: Float[np.ndarray, "n 2"]) -> float:
    """Returns the length of a path."""
    return float(np.hypot(*np.diff(points, axis=0).T).sum())


def _simplified(points: np.ndarray, edges: list[Edge], bridge: float, spur: float) -> tuple[np.ndarray, list[Edge]]:
    """Returns the graph with short bridges between junctions closed and short dead ends left out."""
    points = points.copy()
    degree = np.bincount([n for e in edges for n in e.nodes if n >= 0], minlength=len(points))
    kept = []
    for e in edges:
        a, b = e.nodes
        dead = a >= 0 and a != b and min(degree[a], degree[b]) == 1 and max(degree[a], degree[b]) > 2
        if not (dead and length(e.points) < spur):
            kept.append(e)
    name = np.arange(len(points))
    for e in kept:
        a, b = e.nodes
        if a != b and degree[a] > 1 and degree[b] > 1 and length(e.points) < bridge and name[a] != name[b]:
            points[name == name[a]] = points[name == name[b]] = (points[a] + points[b]) / 2
            name[name == name[b]] = name[a]
    found = []
    for e in kept:
        a, b = (int(name[n]) if n >= 0 else -1 for n in e.nodes)
        if a >= 0 and a == b and length(e.points) < 2 * bridge:
            continue
        moved = e.points.copy()
        if a >= 0:
            moved[0], moved[-1] = points[a], points[b]
        found.append(Edge((a, b), moved))
    return points, found
