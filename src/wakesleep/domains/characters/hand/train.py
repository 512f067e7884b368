"""Training a hand: search for the programs of all images, learn from draws of their posteriors, and search again."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Int8

from wakesleep.domains.characters.hand.bound import estimate
from wakesleep.domains.characters.hand.fit import Fit, Hand, fit
from wakesleep.domains.characters.hand.learn import first_hand, learn
from wakesleep.domains.characters.hand.search import merge, search
from wakesleep.domains.characters.hand.strokes import Program

POSTERIOR_DRAWS = 2
"""Posterior draws of each image that the hand is learned from."""
HAND_MEMORY_SIZE = 3
ESTIMATE = (4, 256, 512)
"""Rounds that adapt the proposal, their samples, and those of the last round."""
Memory = list[list[Fit]]


def train(
    images: Int8[np.ndarray, "n y x"], strokes: int, seed: int = 0, report: Callable[[str], None] = print
) -> tuple[Hand, Memory]:
    """Returns a hand that is learned from images alone, and the programs that it remembers for them.

    A hand that knows nothing explains half of the images; what is learned from them explains all, and is then
    learned again twice, with the programs fitted anew in between.
    """
    rng = np.random.default_rng(seed)
    half = images[: max(len(images) // 2, 1)]
    hand = first_hand()
    memory = [search(hand, x, HAND_MEMORY_SIZE) for x in half]
    hand = relearned(hand, half, memory, strokes, rng, report)
    memory += [[] for _ in images[len(half) :]]
    known = [tuple(f.program for f in m) for m in memory]
    memory = [search(hand, x, HAND_MEMORY_SIZE, known=k) for x, k in zip(images, known, strict=True)]
    hand = relearned(hand, images, memory, strokes, rng, report)
    for _ in range(2):
        memory = [refitted(hand, x, m) for x, m in zip(images, memory, strict=True)]
        hand = relearned(hand, images, memory, strokes, rng, report)
    return hand, memory


def refitted(hand: Hand, x: Int8[np.ndarray, "y x"], memory: list[Fit]) -> list[Fit]:
    """Returns the remembered programs fitted and scored again, since the hand has changed."""
    return merge([], fit(hand, x, [m.program for m in memory]), HAND_MEMORY_SIZE)


def relearned(
    hand: Hand,
    images: Int8[np.ndarray, "n y x"],
    memory: Memory,
    strokes: int,
    rng: np.random.Generator,
    report: Callable[[str], None],
) -> Hand:
    """Returns the hand learned from draws of the posterior of each image's best program."""
    found: list[tuple[np.ndarray, Program]] = []
    log_p = []
    for x, remembered in zip(images, memory, strict=True):
        if remembered:
            best = estimate(hand, x, remembered[0], rng, *ESTIMATE)
            log_p.append(best.log_p)
            found += [(x, best.draw(rng)) for _ in range(POSTERIOR_DRAWS)]
    report(f"{len(log_p)} images, {-np.mean(log_p) / (images[0].size * np.log(2)):.4f} bits a pixel")
    return learn(hand, np.stack([x for x, _ in found]), [p for _, p in found], strokes)
