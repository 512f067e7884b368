"""The tables and the figure of the strings experiments, from their results files."""

import itertools
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from wakesleep.domains.figures import colour, plain, save
from wakesleep.paper.cells import VARIANTS
from wakesleep.paper.results import Row, load, longest
from wakesleep.paper.strings import PAPER
from wakesleep.paper.tables import markdown

MAIN = ("MWS-revise", "MWS", "RWS", "VIMCO")


def table_strings(folder: Path) -> str:
    """NLL of five held-out strings for each algorithm and K, beside the paper's."""
    rows = _rows(folder, "background")
    head, lines = _grid(rows, partial(_mean, measure="nll"))
    ks = sorted({row["K"] for row in rows})
    lines += [[f"paper, {name}", *(f"{PAPER[name].get(k, '')}" for k in ks)] for name in PAPER]
    lines += _baseline(folder, "background", {"nll_plain": "4-gram", "nll": "4-gram, adapting"}, len(head) - 1)
    asleep = longest(folder / "strings.json")["settings"]["pretrain"]
    caption = (
        f"NLL in nats of five held-out strings of a background concept after {rows[0]['steps']:,} steps, before which "
        f"recognition slept for {asleep:,}; {_seeds(rows)} (the paper's: of 3). Trained on the paper's "
        f"1,000 background concepts. The spread over concepts is {_spread(rows):.1f} nats (standard error of a mean)."
    )
    return markdown(head, lines) + "\n\n" + caption


def table_awake(folder: Path) -> str:
    """The same without pre-training: on background concepts, and on novel ones."""
    parts = []
    for split in ("background", "novel"):
        rows = _rows(folder, split, "strings-awake")
        head, lines = _grid(rows, partial(_mean, measure="nll"))
        parts += [[f"{split}, {line[0]}", *line[1:]] for line in lines]
    return markdown(head, parts) + f"\n\nNLL in nats, without pre-training; {_seeds(rows)}."


def table_novel(folder: Path) -> str:
    """The same for novel concepts, and the conditional NLL of five strings given five."""
    parts = []
    for split, measure, title in (
        ("novel", "nll", "novel"),
        ("background", "nll_conditional", "background, given five"),
        ("novel", "nll_conditional", "novel, given five"),
    ):
        head, lines = _grid(_rows(folder, split), partial(_mean, measure=measure))
        lines += _baseline(folder, split, {measure: "4-gram, adapting"}, len(head) - 1)
        parts += [[f"{title}, {line[0]}", *line[1:]] for line in lines]
    return markdown(head, parts)


def _baseline(folder: Path, split: str, measures: dict[str, str], ks: int) -> list[list[str]]:
    """The lines of the 4-gram, which knows no K: the same in every column."""
    rows = (load(folder / "strings-ngrams.json") or {"rows": []})["rows"]
    return [[title] + [f"{r[m]:.1f}"] * ks for r in rows if r["split"] == split for m, title in measures.items()]


def table_programs(folder: Path) -> str:
    """How many training concepts have a best regex with alternation and with brackets, and need it."""
    head, lines = _grid(_rows(folder, "background"), _counts)
    caption = (
        "Best regexes with alternation; with brackets; of 1,000 concepts. In parentheses those in which the strings "
        "call for it: no branch alone allows them all, or the regex does not without the brackets."
    )
    return markdown(head, lines) + "\n\n" + caption


def table_flatness(folder: Path) -> str:
    """The estimate of the NLL with more and more proposals, of the first seed, on a few concepts of both splits."""
    parts = [_first_seed(folder, split) for split in ("background", "novel")]
    sizes = list(parts[0][0]["flatness"])
    lines = []
    for name, k in itertools.product(_names(parts[0]), sorted({r["K"] for r in parts[0]})):
        cells = [r["flatness"] for rows in parts for r in rows if (r["algorithm"], r["K"]) == (name, k)]
        if cells:
            lines.append([f"{name}, K = {k}", *(f"{cell[s]:.1f}" for cell in cells for s in sizes)])
    heads = [f"{split}, {int(s):,}" for split in ("background", "novel") for s in sizes]
    return markdown(["proposals:", *heads], lines)


def table_prior(folder: Path) -> str:
    """Novel concepts: regexes drawn from the prior of the first of `MAIN` with the largest K, and strings from each."""
    rows = _first_seed(folder)
    first = next(name for name in MAIN if name in _names(rows))
    row = max((r for r in rows if r["algorithm"] == first), key=lambda r: r["K"])
    lines = [[_code(p["regex"]), ", ".join(map(_code, p["samples"]))] for p in row["prior"]]
    return markdown(["prior", "strings drawn from it"], lines)


def table_inferred(folder: Path) -> str:
    """The best regex of a dozen concepts for each of the main algorithms, with the largest K that all have."""
    rows = _first_seed(folder)
    names = [a for a in MAIN if a in _names(rows)]
    shared = set.intersection(*({r["K"] for r in rows if r["algorithm"] == a} for a in names))
    chosen = {a: next(r for r in rows if r["algorithm"] == a and r["K"] == max(shared)) for a in names}
    found = {a: {tuple(i["strings"]): i for i in row["inferred"]} for a, row in chosen.items()}
    lines = []
    for strings in found[names[0]]:
        cells = [found[a].get(strings) for a in names]
        said = [f"{_code(c['regex'])} {_code(c['samples'][0])}" if c else "none found" for c in cells]
        lines.append([", ".join(map(_code, strings[:3])), *said])
    return markdown(["strings (three of five)", *(f"{a}: regex, a sample" for a in names)], lines)


def table_sizes(folder: Path) -> str:
    """What networks of several sizes cost, and the NLL they reach."""
    rows = sorted((load(folder / "strings-sizes.json") or {"rows": []})["rows"], key=lambda r: r["hidden"])
    lines = [
        [f"{r['hidden']}", f"{r['parameters']:,}", f"{r['cpu_ms']:.0f}", f"{r['nll']:.1f}", f"{r['nll_novel']:.1f}"]
        for r in rows
    ]
    return markdown(["hidden size", "parameters", "CPU ms a step", "background, nats", "novel, nats"], lines)


def table_peers(folder: Path) -> str:
    """Balanced accuracy of the shipped model and of other tools by the number of examples."""
    rows = [r for r in _benchmark(folder) if r["what"] == "columns"]
    counts = sorted({r["examples"] for r in rows})
    by = {(r["tool"], r["examples"]): r for r in rows}
    tools = sorted(dict.fromkeys(r["tool"] for r in rows), key=lambda tool: tool != "wakesleep")  # ours first
    head = [
        "balanced accuracy",
        *(f"n = {n}" for n in counts),
        "recall, n = 5",
        "false accept",
        "AUROC",
        "length",
        "ms",
    ]
    lines = []
    for tool in tools:
        five = by[tool, 5]
        more = [f"{five[k]:.3f}" if k in five else "" for k in ("recall", "false_accept", "auroc")]
        scores = [f"{by[tool, n]['balanced_accuracy']:.3f}" for n in counts]
        lines.append([tool, *scores, *more, f"{five['length']:.0f}", f"{five['ms_median']:.0f}"])
    return markdown(head, lines)


def table_speed(folder: Path) -> str:
    """Microseconds for a (regex, five strings) pair."""
    rows = [r for r in _benchmark(folder) if r["what"] == "evaluator"]
    lines = [
        [
            f"{r['pairs']:,} pairs",
            *(f"{r[k][0]:.1f} ({r[k][1]:.1f})" for k in ("forward_us", "gradient_us")),
            f"{r['plain_us']:,.0f}",
        ]
        for r in rows
    ]
    return markdown(["CPU us a pair: least (median)", "forward", "with gradient", "plain Python"], lines)


def draw_strings(folder: Path) -> list[Path]:
    """The NLL on both splits against K, and the bounds during training."""
    figure = Figure(figsize=(9, 3))
    axes = figure.subplots(1, 3)
    for axis, (split, measure) in zip(axes, (("background", "nll"), ("novel", "nll_conditional")), strict=False):
        rows = _rows(folder, split)
        for name in _names(rows):
            ks = sorted({r["K"] for r in rows if r["algorithm"] == name})
            cells = [[r[measure] for r in rows if (r["algorithm"], r["K"]) == (name, k)] for k in ks]
            axis.plot(ks, list(map(np.mean, cells)), "o-", color=colour(name), label=name, ms=4, lw=1.5)
        axis.set(xlabel="K", ylabel="nats", title=f"{split}{', given five' * (measure != 'nll')}")
        plain(axis)
    axes[0].legend(fontsize=7, frameon=False)
    rows = _first_seed(folder)
    for row in (r for r in rows if r["K"] == max(r["K"] for r in rows)):
        steps, bounds = np.asarray(row["curve"]).T
        axes[2].plot(steps, bounds, color=colour(row["algorithm"]), lw=1.2)
    axes[2].set(xlabel="step", ylabel="bound, nats", title="training, the largest K")
    plain(axes[2])
    figure.tight_layout()
    return [save(figure, folder / "strings.png")]


def _rows(folder: Path, split: str, name: str = "strings") -> list[Row]:
    return [r for r in longest(folder / f"{name}.json")["rows"] if r["split"] == split]


def _first_seed(folder: Path, split: str = "background") -> list[Row]:
    return [r for r in _rows(folder, split) if r["seed"] == 0]


def _benchmark(folder: Path) -> list[Row]:
    table = load(folder / "benchmark-strings.json")
    return table["rows"] if table else []


def _names(rows: Iterable[Row]) -> list[str]:
    found = {r["algorithm"] for r in rows}
    return [name for name in VARIANTS if name in found]


def _grid(rows: list[Row], cell: Callable[[list[Row]], str]) -> tuple[list[str], list[list[str]]]:
    """A line for each algorithm, a column for each K."""
    ks = sorted({r["K"] for r in rows})
    lines = []
    for name in _names(rows):
        cells = [[r for r in rows if (r["algorithm"], r["K"]) == (name, k)] for k in ks]
        lines.append([name, *(cell(c) if c else "" for c in cells)])
    return ["", *(f"K = {k}" for k in ks)], lines


def _mean(cells: list[Row], measure: str) -> str:
    values = [c[measure] for c in cells]
    return f"{np.mean(values):.1f}" + (f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else "")


def _seeds(rows: list[Row]) -> str:
    """Of how many seeds the cells are."""
    counts = {sum((r["algorithm"], r["K"]) == (o["algorithm"], o["K"]) for o in rows) for r in rows}
    several = " or ".join(map(str, sorted(counts - {1})))
    if not several:
        return "one seed"
    means = f"mean ± standard deviation of {several} seeds"
    return means if 1 not in counts else f"{means}, where no ± stands one seed"


def _counts(cells: list[Row]) -> str:
    names = (("alternation", "divided"), ("bracketed", "grouped"))
    means = [[np.mean([c[name] for c in cells]) for name in pair] for pair in names]
    return "; ".join(f"{used:.0f} ({needed:.0f})" for used, needed in means)


def _spread(rows: list[Row]) -> float:
    return float(np.mean([r["nll_spread"] for r in rows]))


def _code(text: Any) -> str:
    """Text as code in a Markdown table."""
    escaped = str(text).replace("|", "\\|")
    return f"`` {escaped} ``" if "`" in escaped else f"`{escaped}`"


DRAW: dict[str, Callable[[Path], list[Path]]] = {"strings": draw_strings}
TABLES: dict[str, Callable[[Path], str]] = {
    "strings": table_strings,
    "strings-awake": table_awake,
    "strings-novel": table_novel,
    "strings-programs": table_programs,
    "strings-flatness": table_flatness,
    "strings-prior": table_prior,
    "strings-inferred": table_inferred,
    "strings-sizes": table_sizes,
    "strings-peers": table_peers,
    "strings-speed": table_speed,
}
