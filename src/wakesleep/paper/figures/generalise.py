"""The tables and the figure of strings for new concepts, from their results files."""

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from wakesleep.domains.figures import colour, plain, save
from wakesleep.paper.cells import VARIANTS
from wakesleep.paper.paired import Difference, paired, unpack
from wakesleep.paper.results import Row, longest
from wakesleep.paper.tables import markdown

MEASURED_COLUMNS = (
    ("background", "nll", "background"),
    ("novel", "nll", "novel"),
    ("background", "nll_given_first", "background, given five"),
    ("novel", "nll_given_first", "novel, given five"),
    ("background", "nll_given", "background, given five (all)"),
    ("novel", "nll_given", "novel, given five (all)"),
)
"""Split, measure and heading of each column."""
OURS = ("MWS-revise+both", "MWS-tail+both", "MWS-tail+sparing", "MWS-tail+fantasy")
RIVALS = ("RWS", "RWS+fantasy", "VIMCO")
CONTROLLED = ("MWS-revise+both", "RWS")
"""What the controls stand beside, ours first."""


def table_generalise(folder: Path) -> str:
    """NLL of five held-out strings for each algorithm and K, novel concepts and prediction included."""
    table = longest(folder / "strings-generalise.json")
    rows, settings = table["rows"], table["settings"]
    lines = []
    for k, name in itertools.product(sorted({r["K"] for r in rows}), _names(rows)):
        some = [r for r in rows if (r["algorithm"], r["K"]) == (name, k)]
        if some:
            means = [_mean([r[measure] for r in some if r["split"] == split]) for split, measure, _ in MEASURED_COLUMNS]
            lines.append([f"K = {k}, {name}", *means, *_cost(some)])
    head = ["", *(title for *_, title in MEASURED_COLUMNS), "seeds", "steps kept", "train CPU s"]
    caption = (
        f"NLL in nats of five held-out strings, {rows[0]['steps']:,} steps at most after {settings['pretrain']:,} of "
        f"sleep, dropout {settings['dropout']}, stray rate {settings['stray']}; mean ± standard deviation "
        "over seeds. Given five: programs are searched on the first five alone, so the strings are predicted before "
        "they are seen; (all): over programs searched on either five."
    )
    return markdown(head, lines) + "\n\n" + caption


def table_paired(folder: Path) -> str:
    """The differences to each rival concept by concept, with bootstrap intervals."""
    rows = longest(folder / "strings-generalise.json")["rows"]
    lines = []
    for k, ours, rival in itertools.product(sorted({r["K"] for r in rows}), OURS, RIVALS):
        first, second = ([r for r in rows if (r["algorithm"], r["K"]) == (name, k)] for name in (ours, rival))
        if first and second:
            found = [difference(first, second, (split,), measure) for split, measure, _ in MEASURED_COLUMNS[:4]]
            found.append(difference(first, second, ("background", "novel"), "nll_given_first"))
            lines.append([f"K = {k}, {ours} - {rival}", *map(str, found)])
    head = ["", *(title for *_, title in MEASURED_COLUMNS[:4]), "given five, all concepts"]
    caption = (
        "Mean difference in nats over the same concepts [95 % interval by the bootstrap over concepts, and over seeds "
        "where there are several]; below zero the first is better."
    )
    return markdown(head, lines) + "\n\n" + caption


def difference(first: list[Row], second: list[Row], splits: tuple[str, ...], measure: str) -> Difference:
    """The paired difference of two algorithms on the concepts of some splits."""
    return paired(_items(first, splits, measure), _items(second, splits, measure))


def _items(rows: list[Row], splits: tuple[str, ...], measure: str) -> list[np.ndarray]:
    """The numbers of all concepts of the splits, for each seed."""
    found = {(r["seed"], r["split"]): unpack(r["items"][measure]) for r in rows}
    return [np.concatenate([found[seed, split] for split in splits]) for seed in sorted({seed for seed, _ in found})]


def table_checks(folder: Path) -> str:
    """What tells whether the estimates can be trusted: what samples add, their error, and ever more of them."""
    table = longest(folder / "strings-generalise.json")
    names, lines = _names(table["rows"]), []
    keys = {(r["K"], names.index(r["algorithm"]), r["split"]) for r in table["rows"]}
    for k, place, split in sorted(keys):
        some = [r for r in table["rows"] if (r["K"], r["algorithm"], r["split"]) == (k, names[place], split)]
        sampled, error, effective, doubtful = (
            np.mean(values)
            for values in zip(
                *((r["nll_memory"] - r["nll"], r["nll_error"], r["effective"], r["doubtful"]) for r in some),
                strict=True,
            )
        )
        numbers = [f"{sampled:.3f}", f"{error:.3f}", f"{effective:.1f}", f"{doubtful:.0f}", _flatness(some)]
        lines.append([f"K = {k}, {names[place]}, {split}", *numbers])
    head = ["", "from samples", "error", "effective samples", "doubtful concepts", "gain by more samples"]
    some = table["settings"]
    caption = (
        f"Means over seeds, in nats but for the third and fourth column. From samples: what {some['samples']} "
        f"proposals of recognition add to the {some['memory']} programs that the search kept. Error: the Monte Carlo "
        "standard error of the mean. "
        "Doubtful: where the sampled part matters and its weights are heavy-tailed. Gain by more samples: how much "
        f"lower the NLL of {some['few']} concepts is with {some['flatness'][-1]:,} proposals than with "
        f"{some['flatness'][0]}."
    )
    return markdown(head, lines) + "\n\n" + caption


def _flatness(rows: list[Row]) -> str:
    """How much the NLL falls with the most proposals, in the seed for which this was measured."""
    measured = [[r["flatness"][count] for count in sorted(r["flatness"], key=int)] for r in rows if r["flatness"]]
    gains = [values[0] - values[-1] for values in measured]
    return f"{np.mean(gains):.2f}" if gains else ""


def table_ablations(folder: Path) -> str:
    """NLL with a learned stray rate, without strays, and without dropout, to be read beside the main table's."""
    rows = longest(folder / "strings-ablations.json")["rows"]
    keys = sorted({(r["algorithm"], r["dropout"], r["stray"], r["stray_learned"]) for r in rows})
    lines = []
    for key in keys:
        some = [r for r in rows if (r["algorithm"], r["dropout"], r["stray"], r["stray_learned"]) == key]
        name, dropout, stray, learned = key
        strays = f"{stray}{' learned' if learned else ' fixed'}" if stray else "none"
        means = [_mean([r[m] for r in some if r["split"] == split]) for split, m, _ in MEASURED_COLUMNS[:4]]
        lines.append([f"{name}, dropout {dropout}, strays {strays}", *means])
    return markdown(["K = 5", *(title for *_, title in MEASURED_COLUMNS[:4])], lines)


def table_controls(folder: Path) -> str:
    """NLL without learning, and of RWS with templates among its proposals, beside the same seed of the main table."""
    controls = longest(folder / "strings-controls.json")["rows"]
    cell = {"K": controls[0]["K"], "seed": controls[0]["seed"]}
    known = longest(folder / "strings-generalise.json")["rows"]
    known = [r for r in known if r["algorithm"] in CONTROLLED and cell.items() <= r.items()]
    rows, lines = [*known, *controls], []
    for name in dict.fromkeys(r["algorithm"] for r in rows):
        some = [r for r in rows if r["algorithm"] == name]
        lines.append([name, *(f"{_only(some, split)[m]:.1f}" for split, m, _ in MEASURED_COLUMNS[:4])])
    for ours, other in itertools.product(CONTROLLED[:1], dict.fromkeys(r["algorithm"] for r in controls)):
        first, second = ([r for r in rows if r["algorithm"] == name] for name in (ours, other))
        found = [difference(first, second, (split,), m) for split, m, _ in MEASURED_COLUMNS[:4]]
        lines.append([f"{ours} - {other}", *map(str, found)])
    head = [f"K = {cell['K']}, seed {cell['seed']}", *(title for *_, title in MEASURED_COLUMNS[:4])]
    return (
        markdown(head, lines) + "\n\nDifferences over the same concepts [95 % interval by the bootstrap over concepts]."
    )


def _only(rows: list[Row], split: str) -> Row:
    """The row of a split."""
    return next(r for r in rows if r["split"] == split)


def draw_generalise(folder: Path) -> list[Path]:
    """NLL of the concepts left out against steps, and against CPU seconds of training."""
    rows = [r for r in longest(folder / "strings-generalise.json")["rows"] if "left_out" in r and r["seed"] == 0]
    ks = sorted({r["K"] for r in rows})
    figure = Figure(figsize=(max(3.0 * len(ks), 6.0), 5.6), layout="constrained")
    axes = figure.subplots(2, len(ks), squeeze=False, sharey=True)
    lines = {}
    for column, k in enumerate(ks):
        for row in (r for r in rows if r["K"] == k):
            steps, nll = np.asarray(row["left_out"]).T
            seconds = np.asarray(row["curve"])[:, 2]
            for axis, at in zip(axes[:, column], (steps, seconds), strict=True):
                (lines[row["algorithm"]],) = axis.plot(at, nll, color=colour(row["algorithm"]), lw=1.2)
                plain(axis)
        axes[0, column].set(title=f"K = {k}", xlabel="steps")
        axes[1, column].set(xlabel="CPU seconds of training")
    for axis in axes[:, 0]:
        axis.set(ylabel="NLL of concepts left out, nats")
    shown = [name for name in VARIANTS if name in lines]
    figure.legend([lines[n] for n in shown], shown, loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    return [save(figure, folder / "strings-generalise.png")]


def _names(rows: Iterable[Row]) -> list[str]:
    found = {r["algorithm"] for r in rows}
    return [name for name in VARIANTS if name in found]


def _mean(values: list[float]) -> str:
    return f"{np.mean(values):.1f}" + (f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else "")


def _cost(rows: list[Row]) -> list[str]:
    """The number of seeds, the steps at which models were kept, and the CPU seconds of training."""
    some = sorted((r for r in rows if "kept" in r), key=lambda r: r["seed"])
    kept = ", ".join(f"{r['kept']:,}" for r in some)
    return [f"{len(some)}", kept, f"{np.mean([r['train_cpu_seconds'] for r in some]):.0f}"]


DRAW: dict[str, Callable[[Path], list[Path]]] = {"strings-generalise": draw_generalise}
TABLES: dict[str, Callable[[Path], str]] = {
    "strings-generalise": lambda folder: table_generalise(folder) + "\n\n" + table_paired(folder),
    "strings-generalise-checks": table_checks,
    "strings-ablations": table_ablations,
    "strings-controls": table_controls,
}
