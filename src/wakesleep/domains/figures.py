"""How every figure looks and is saved."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

COLOURS = {
    "MWS": "#1b6ca8",
    "MWS-explore": "#7048e8",
    "MWS-revise": "#c2255c",
    "MWS-expected": "#0b3c5d",
    "MWS-fantasy": "#4dabf7",
    "MWS+both": "#15aabf",
    "MWS-tail": "#9775fa",
    "MWS-tail+both": "#5f3dc4",
    "MWS-tail+fantasy": "#3bc9db",
    "MWS-revise+both": "#a61e4d",
    "RWS": "#dc6a12",
    "RWS-sleep": "#f4a261",
    "RWS+fantasy": "#b08900",
    "VIMCO": "#2f9e44",
    "MWS-tail+revise+fantasy": "#1c2f6b",
}


def colour(algorithm: str) -> str:
    """The colour that an algorithm has in every figure."""
    return COLOURS.get(algorithm, "#868e96")


def plain(axis: Axes) -> None:
    """Without the box."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)


def save(figure: Figure, path: Path) -> Path:
    """Writes a PNG and gives back its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    FigureCanvasAgg(figure).print_figure(str(path), dpi=150, bbox_inches="tight", metadata={"Software": None})
    return path
