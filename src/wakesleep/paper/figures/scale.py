"""The tables and the figure of what runs cost and survive, from the results of the benchmarks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wakesleep.domains.figures import colour, plain, save
from wakesleep.errors import Refusal
from wakesleep.paper.results import Row, load
from wakesleep.paper.tables import markdown

SETTLED_MB = 40
"""Differences below this are noise: a process takes and returns as much by itself."""
FAULT_WORDS = {
    "kill": "`kill -9` at a random moment",
    "process-killed": "`kill -9` of one of two processes",
    "disk-full": "the disk fills up",
    "damage": "a checkpoint is damaged",
    "io": "a call of the system fails",
    "hostile": "a run directory is made to harm",
    "owners": "a second process resumes the run",
}


def _table(folder: Path, name: str) -> dict[str, Any]:
    found = load(folder / f"benchmark-{name}.json")
    if found is None:
        raise Refusal(f"{folder} has no benchmark-{name}.json yet: make it with python benchmarks/{name}.py.")
    return found


def _measured(folder: Path, what: str, by: str) -> list[Row]:
    rows = [row for row in _table(folder, "scale")["rows"] if row["what"] == what]
    return sorted(rows, key=lambda row: (row.get("algorithm", ""), row[by]))


def _k(row: Row) -> int:
    return int(row["k"] if "k" in row else row["m"] + row["r"])


def table_observations(folder: Path) -> str:
    """Returns the table of cost of a step and memory in use for each number of observations."""
    cost = {row["n"]: row["step_ms"] for row in _measured(folder, "observations", "n")}
    lines = [
        [
            f"{row['n']:,}",
            f"{cost[row['n']]:.3f}",
            f"{row['arrays_mb']:,.1f}",
            f"{row['peak_mb']:,.1f}",
            f"{row['peak_with_checkpoint_mb']:,.1f}",
            f"{row['peak_with_checkpoint_mb'] / row['arrays_mb']:.2f}" if row["arrays_mb"] > SETTLED_MB else "",
            f"{row['checkpoint_waits_ms']} of {row['checkpoint_takes_ms']}",
        ]
        for row in _measured(folder, "memory", "n")
    ]
    head = ["N", "step (CPU ms)", "arrays (MB)", "peak (MB)", "with a checkpoint", "of the arrays", "checkpoint (ms)"]
    return markdown(head, lines)


def table_programs(folder: Path) -> str:
    """Returns the table of cost of a step for each number of programs scored for an observation."""
    rows = sorted((r for r in _table(folder, "scale")["rows"] if r["what"] == "programs"), key=_k)
    ks = sorted({_k(row) for row in rows})
    lines = []
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        cost = {_k(row): f"{row['step_ms']:.3f}" for row in rows if row["algorithm"] == name}
        lines.append([f"{name.upper()}, step (CPU ms)", *(cost.get(k, "") for k in ks)])
    return markdown(["", *(f"K = {k}" for k in ks)], lines)


def table_length(folder: Path) -> str:
    """Returns the table of cost of a step for each length of programs."""
    rows = _measured(folder, "length", "neighbours")
    head = ["bits of a program", *(str(2 ** row["neighbours"]) for row in rows)]
    return markdown(head, [["step (CPU ms)", *(f"{row['step_ms']:.3f}" for row in rows)]])


def table_devices(folder: Path) -> str:
    """Returns the table of cost of a step on one machine for each number of devices that its CPU is cut into."""
    rows = _measured(folder, "devices", "devices")
    cpu = ["CPU ms a step, all devices", *(f"{row['step_ms']:.3f}" for row in rows)]
    wall = ["ms a step by the clock", *(f"{row['step_wall_ms']:.3f}" for row in rows)]
    return markdown(["devices", *(str(row["devices"]) for row in rows)], [cpu, wall])


def table_network(folder: Path) -> str:
    """Returns the table of bytes of gradients and reports for the model of each domain."""
    rows = [row for row in _table(folder, "scale")["rows"] if row["what"] == "network"]
    return markdown(["", *(r["domain"] for r in rows)], [["bytes", *(f"{r['gradient_bytes']:,}" for r in rows)]])


def table_survival(folder: Path) -> str:
    """Returns the table of faults tried and what they cost."""
    rows = {row["fault"]: row for row in _table(folder, "survival")["rows"]}
    lines = [[words, str(rows[f]["tried"]), str(rows[f]["lost"])] for f, words in FAULT_WORDS.items() if f in rows]
    return markdown(["fault", "tried", "lost"], lines)


def table_fuzz(folder: Path) -> str:
    """Returns the table of changed files by reader, and how the cases ended."""
    ends = ("cases", "results", "refused", "failed")
    lines = [[row["reader"], *(f"{row[end]:,}" for end in ends)] for row in _table(folder, "fuzz")["rows"]]
    return markdown(["file", "cases", "read", "refused in a sentence", "failed"], lines)


def table_regexes(folder: Path) -> str:
    """Returns the table of regexes by the kind of their columns, and how engines took them."""
    what = ("regexes", "not_compiled", "python_over_a_second", "marked", "re2_slowest_seconds", "failed")
    lines = [[row["columns"], *(f"{row[w]:,}" for w in what)] for row in _table(folder, "regexes")["rows"]]
    head = ["columns", "regexes", "not compiled", "over 1 s in Python", "marked slow", "slowest in RE2, s", "failed"]
    return markdown(head, lines)


def table_installation(folder: Path) -> str:
    """Returns the table of packages and megabytes that each extra brings."""
    rows = [row for row in _table(folder, "installation")["rows"] if "packages" in row]
    lines = [
        [
            row["extra"],
            str(row["packages"]),
            str(row["megabytes"]),
            ", ".join(f"{n} {s}" for n, s in row["largest"].items()),
        ]
        for row in rows
    ]
    return markdown(["extra", "packages", "MB", "the largest, MB"], lines)


def draw_scale(folder: Path) -> Path:
    """Draws the cost of a step against N, K, program length and devices, and memory against N."""
    figure = Figure(figsize=(12, 5.6))
    axes = figure.subplots(2, 3).ravel()
    rows = _measured(folder, "observations", "n")
    _curve(axes[0], [r["n"] for r in rows], [r["step_ms"] for r in rows], "observations N")
    axes[0].set(xscale="log")
    rows = _measured(folder, "memory", "n")
    axes[1].plot([r["n"] for r in rows], [r["arrays_mb"] for r in rows], ":", color="black", label="the arrays")
    peaks = [r["peak_with_checkpoint_mb"] for r in rows]
    axes[1].plot([r["n"] for r in rows], peaks, "o-", color=colour("MWS"), ms=4, label="peak, checkpoint included")
    axes[1].set(xscale="log", yscale="log", xlabel="observations N", ylabel="MB")
    axes[1].legend(fontsize=8, frameon=False)
    rows = [r for r in _table(folder, "scale")["rows"] if r["what"] == "programs"]
    for name in ("mws", "rws"):
        some = sorted((r for r in rows if r["algorithm"] == name), key=_k)
        _curve(axes[2], [_k(r) for r in some], [r["step_ms"] for r in some], "programs K = M + R", name.upper())
    axes[2].legend(fontsize=8, frameon=False)
    rows = _measured(folder, "length", "neighbours")
    _curve(axes[3], [2 ** r["neighbours"] for r in rows], [r["step_ms"] for r in rows], "bits of a program")
    rows = _measured(folder, "devices", "devices")
    _curve(axes[4], [r["devices"] for r in rows], [r["step_ms"] for r in rows], "devices of two cores")
    axes[5].axis("off")
    for axis in axes[:5]:
        plain(axis)
    figure.tight_layout()
    return save(figure, folder / "scale.png")


def _curve(axis: Axes, x: list[int], y: list[float], name: str, label: str = "MWS") -> None:
    axis.plot(x, y, "o-", color=colour(label), ms=4, label=label)
    axis.set(xlabel=name, ylabel="CPU ms a step", ylim=(0, max(axis.get_ylim()[1], 1.15 * max(y))))


TABLES: dict[str, Callable[[Path], str]] = {
    "scale-observations": table_observations,
    "scale-programs": table_programs,
    "scale-length": table_length,
    "scale-devices": table_devices,
    "scale-network": table_network,
    "survival": table_survival,
    "fuzz": table_fuzz,
    "regexes": table_regexes,
    "installation": table_installation,
}
