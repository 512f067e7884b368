"""Fits the network to examples by Adam, and its thresholds to random halves of columns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wakesleep.domains.strings.columns.judge.examples import STRANGER, Examples
from wakesleep.domains.strings.columns.judge.judge import Alarm, offset_of, own_log_odds
from wakesleep.domains.strings.columns.judge.net import FARTHEST, HEADS, Net, Weights

FOREIGN = (STRANGER, "other column")
"""Kinds of mistakes that the head of strangers learns; the other head learns all but strangers."""
ALARMS = {
    0.5: 0.4, 0.7: 0.24, 0.8: 0.16, 0.9: 0.095, 0.95: 0.046, 0.97: 0.022, 0.98: 0.014, 0.99: 0.009, 0.995: 0.0048,
    0.999: 0.001,
}  # fmt: skip
"""For each share, the false alarms that are spent on random rows: fewer than 1 - share, for tables drift."""

MANY = "random half"
CALIBRATED_ROWS = {10: "random 10", 20: "random 20", 50: "random 50", 400: MANY}
"""Numbers of rows fitted on at which thresholds are fitted, and the way in which columns are cut for it."""
LEAST_MANY_ROWS = 100
"""Rows fitted on from which a random half counts as many rows."""


@dataclass(frozen=True)
class Settings:
    """How the network is fitted."""

    units: int = 32
    epochs: int = 10
    batch: int = 2048
    rate: float = 3e-3
    decay: float = 1e-3
    concept_weight: float = 0.15
    stranger_weight: float = 0.5
    seed: int = 0


def stacked(examples: Sequence[Examples], settings: Settings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns features, labels and a weight for each head: half of a column's weight is on rows, half on mistakes."""
    xs, ys, ws = [], [], []
    for e in examples:
        whole = np.array([1.0, settings.stranger_weight]) * (1.0 if e.table else settings.concept_weight) / 2
        foreign = np.array([k in FOREIGN for k in e.kinds], bool)
        damaged = np.array([k != STRANGER for k in e.kinds], bool)
        wrong = np.stack([damaged / max(damaged.sum(), 1), foreign / max(foreign.sum(), 1)], axis=1)
        xs += [e.legitimate, e.wrong]
        ys += [np.zeros(len(e.legitimate)), np.ones(len(e.wrong))]
        ws += [e.weights[:, None] * whole, wrong * whole]
    return np.concatenate(xs), np.concatenate(ys).astype(np.float32), np.concatenate(ws).astype(np.float32)


def fit_net(examples: Sequence[Examples], settings: Settings, columns: np.ndarray | None = None) -> Net:
    """Returns the network of least weighted log-loss; with `columns`, other features are held at zero."""
    features, labels, weights = stacked(examples, settings)
    draw = np.random.default_rng(settings.seed)
    mean, scale = features.mean(0), 1 / (features.std(0) + 1e-2)
    if columns is not None:
        scale[~columns] = 0.0
    features = np.clip((features - mean) * scale, -FARTHEST, FARTHEST).astype(np.float32)
    weights /= weights[:, 0].mean()
    size, units, heads = features.shape[1], settings.units, len(HEADS)
    hidden, output = draw.normal(0, size**-0.5, (size, units)), draw.normal(0, 0.5 * units**-0.5, (units, heads))
    start = [hidden, np.zeros(units), output, np.zeros((size, heads)), np.zeros(heads)]
    adam = Adam([p.astype(np.float32) for p in start], settings, settings.epochs * (len(labels) // settings.batch))
    for _ in range(settings.epochs):
        order = draw.permutation(len(labels))
        for i in range(0, len(labels) - settings.batch + 1, settings.batch):
            rows = order[i : i + settings.batch]
            adam.step(gradient(adam.weights, features[rows], labels[rows], weights[rows], settings.decay))
    return Net(mean, scale, *adam.weights)


def gradient(p: list[np.ndarray], x: np.ndarray, y: np.ndarray, w: np.ndarray, decay: float) -> list[np.ndarray]:
    """Returns the gradient of the mean weighted log-loss and of half the squared weights times `decay`."""
    units = np.maximum(x @ p[0] + p[1], 0)
    log_odds = np.clip(units @ p[2] + x @ p[3] + p[4], -30, 30)
    error = ((1 / (1 + np.exp(-log_odds)) - y[:, None]) * w / len(y)).astype(np.float32)
    back = (error @ p[2].T) * (units > 0)
    hidden, output, direct = x.T @ back + decay * p[0], units.T @ error + decay * p[2], x.T @ error + decay * p[3]
    return [hidden, back.sum(0), output, direct, error.sum(0)]


class Adam:
    """Adam with a warm-up of 100 steps and a rate that falls to zero."""

    def __init__(self, weights: list[np.ndarray], settings: Settings, steps: int) -> None:
        self.weights, self.rate, self.steps, self.count = weights, settings.rate, steps, 0
        self.first = [np.zeros_like(w) for w in weights]
        self.second = [np.zeros_like(w) for w in weights]

    def step(self, gradients: list[np.ndarray]) -> None:
        """One update of all weights."""
        self.count += 1
        t = self.count
        rate = np.float32(self.rate * min(1.0, t / 100) * (1 - t / (self.steps + 1)))
        for i, g in enumerate(gradients):
            self.first[i] = 0.9 * self.first[i] + 0.1 * g
            self.second[i] = 0.999 * self.second[i] + 0.001 * g * g
            direction = (self.first[i] / (1 - 0.9**t)) / (np.sqrt(self.second[i] / (1 - 0.999**t)) + 1e-8)
            self.weights[i] = (self.weights[i] - rate * direction).astype(np.float32)


def judged(net: Callable[[np.ndarray], np.ndarray], example: Examples) -> Alarm:
    """Returns the legitimate values of a column as the judge sees them."""
    return net(example.legitimate)[:, 0] - offset(net, example), example.weights


def offset(net: Callable[[np.ndarray], np.ndarray], example: Examples) -> float:
    """Returns the offset of a column's threshold."""
    late, once = own_log_odds(net, example.later), own_log_odds(net, example.once)
    return offset_of((late, example.later_weights), (once, example.once_weights), example.rows)


def thresholds(alarms: Sequence[Alarm]) -> np.ndarray:
    """Returns, for each share of `ALARMS`, the log-odds above which its mean share of rows over columns lies."""
    found = []
    for allowed in ALARMS.values():
        low, high = -15.0, 15.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if mean_alarms(alarms, middle) > allowed else (low, middle)
        found.append(high)
    return np.array(found)


def mean_alarms(alarms: Sequence[Alarm], threshold: float) -> float:
    """Returns the share of rows above a threshold, averaged over columns."""
    return float(np.mean([w[z > threshold].sum() for z, w in alarms]))


def calibrated_weights(net: Net, by_way: Mapping[str, Sequence[tuple[int, Alarm]]], card: dict[str, Any]) -> Weights:
    """Fits thresholds for each number of rows to columns cut in the way for it, each with the rows it was fitted on."""
    some = [
        [a for rows, a in by_way[way] if way != MANY or rows >= LEAST_MANY_ROWS] for way in CALIBRATED_ROWS.values()
    ]
    whole = np.array([thresholds(s) for s in some])
    plain = Weights(
        net, np.array(list(ALARMS)), np.array(list(CALIBRATED_ROWS), float), whole, np.ones(len(some)), card
    )
    usual = [mean_alarms(s, plain.usual_threshold(n)) for n, s in zip(CALIBRATED_ROWS, some, strict=True)]
    return replace(plain, usual_alarms=np.array(usual))
