"""Facts of a series in plain English: shared parts first, with their probabilities; plain numbers; each thing once."""

from collections.abc import Iterator, Sequence

import numpy as np

from wakesleep.domains.timeseries.explain.explained import Explained
from wakesleep.domains.timeseries.explain.facts import Facts, SeasonFact, facts_of
from wakesleep.domains.timeseries.statespace.changes import Change
from wakesleep.domains.timeseries.statespace.inference import Inferred

SEASON_NAMES = {
    ("quarter", 4): "yearly",
    ("month", 12): "yearly",
    ("week", 52): "yearly",
    ("day", 7): "weekly",
    ("day", 5): "weekly",
    ("day", 261): "yearly",
    ("day", 365): "yearly",
    ("hour", 24): "daily",
    ("hour", 168): "weekly",
    ("minute", 60): "hourly",
    ("minute", 1440): "daily",
}
LARGER_UNITS = {"month": (12, "year"), "quarter": (4, "year"), "week": (52, "year"), "hour": (24, "day")}
MONTH_TITLES = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
]  # fmt: skip
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MOST_OUTLIERS_NAMED = 5


def sentences(e: Explained) -> list[str]:
    """Returns the sentences of an explained series."""
    f = facts_of(e)
    said = [*_trend(e, f), *(_season(e, f, s) for s in f.seasons), *_changes(e, f), *_ending(e), *_echo(e, f)]
    return list(dict.fromkeys([*said, _noise(f)]))


def plain(number: float | int) -> str:
    """Returns a number with three significant digits and no exponent."""
    if not np.isfinite(number):
        return "very much"
    rounded = float(f"{number:.3g}")
    if abs(rounded) >= 1000 or rounded == 0:
        return f"{rounded:,.0f}"
    digits = max(0, 2 - int(np.floor(np.log10(abs(rounded)))))
    text = f"{rounded:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float) -> str:
    """Returns a share in percent, without claiming certainty."""
    if share > 0.99:
        return "over 99 %"
    return "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def _change(size: float, log: bool) -> str:
    """Returns the size of a difference: a number, or per cent where the parts are logarithms."""
    return f"{plain(100 * abs(np.expm1(size)))} %" if log else plain(abs(size))


def _rate(e: Explained, f: Facts, slope: float) -> str:
    """Returns a slope for each larger unit of time, such as a year for months."""
    size, unit = LARGER_UNITS.get(e.series.unit, (1, e.series.unit))
    every = e.series.clock.every if unit != "step" else 1
    return f"{_change(slope * size / every, f.log)} a {unit}"


def _trend(e: Explained, f: Facts) -> Iterator[str]:
    """Yields what the trend does: direction, amount, wandering and its latest turn."""
    way = "rises" if f.slope > 0 else "falls"
    ends = f"from about {plain(f.start)} to {plain(f.end)}"
    if f.trending and not f.wandering:
        yield f"A steady trend {way} by {_rate(e, f, f.slope)}, {ends}."
    elif f.trending:
        yield f"A trend {way} by about {_rate(e, f, f.slope)}, {ends}."
    if f.wandering:
        share = f", which makes {percent(f.wander_share)} of the variance"
        yield f"The level wanders{'' if f.trending else f', {ends}'}{share}."
        if f.turn is not None:
            trend = e.parts.parts.mean[0]
            which = "high" if trend[f.turn] > trend[-1] else "low"
            yield f"Its latest turn was a {which} at {e.series.label(e.parts.positions[f.turn])}."
    if not f.trending and not f.wandering and not f.shifts:
        yield f"The level stays at about {plain(f.end)}."


def _season(e: Explained, f: Facts, s: SeasonFact) -> str:
    """Returns a season in words: probability, share of the variance, highest and lowest, and how it changes."""
    named = SEASON_NAMES.get((e.series.unit, int(s.length))) if e.series.clock.every == 1 else None
    calendar = s.length in e.series.seasons
    cycle = f"A cycle of about {plain(s.length * e.series.clock.units_a_step)} {e.series.unit}s"
    other = f"A season of {s.length:g} steps" if calendar else cycle
    name = f"A {named} season" if named else other
    when = [f"{word} {_phase(e, i, s.length)} ({sign}{_change(size, f.log)})" for word, i, size, sign in (
        ("highest", s.high, s.high_effect, "+" if s.high_effect > 0 else "-"),
        ("lowest", s.low, s.low_effect, "+" if s.low_effect > 0 else "-"),
    )]  # fmt: skip
    how = ", and its swings grow with the level" if f.growing else ", and it changes slowly" if s.changing else ""
    made = f"makes {percent(s.share)} of the variance"
    return f"{name} (probability {percent(s.probability)}) {made}, {' and '.join(when)}{how}."


def _phase(e: Explained, index: int, length: float | int) -> str:
    """Returns a place in a season in words, such as in July, on Monday or in step 3."""
    position = e.parts.positions[index]
    unit, when = e.series.unit, e.series.time_at(np.array([position]))[0]
    if unit == "month" and length == 12:
        return "in " + MONTH_TITLES[int(when.astype("datetime64[M]").astype(int)) % 12]
    if unit == "day" and length in (5, 7):
        return "on " + DAYS[(int(when.astype("datetime64[D]").astype(int)) + 3) % 7]
    if unit == "hour" and length == 24:
        return f"at {str(when)[11:13]}:00"
    if unit == "quarter" and length == 4:
        return f"in quarter {e.series.label(position)[-1]}"
    return f"in step {round(position) % length + 1}" if unit == "step" else f"in {e.series.label(position)}"


def _changes(e: Explained, f: Facts) -> Iterator[str]:
    """Yields shifts, bends and outliers with their times."""
    label = lambda i: e.series.label(float(e.parts.positions[i]))  # noqa: E731
    for i, size in f.shifts:
        yield f"The level shifts {'up' if size > 0 else 'down'} by {_change(size, f.log)} at {label(i)}."
    for i, before, after in f.bends:
        ways = [f"{'rising' if s > 0 else 'falling'} by {_rate(e, f, s)}" for s in (before, after)]
        yield f"The slope changes at {label(i)}, from {ways[0]} to {ways[1]}."
    if f.outliers:
        seen, fit = e.observed_values(), e.parts.fit
        named = [f"{label(i)} ({plain(seen[i])}, expected about {plain(fit[i])})" for i in f.outliers]
        more = len(named) - MOST_OUTLIERS_NAMED
        count = "One outlier" if len(named) == 1 else f"{len(named)} outliers"
        yield f"{count}: {', '.join(named[:MOST_OUTLIERS_NAMED])}{f' and {more} more' if more > 0 else ''}."


def _ending(e: Explained) -> Iterator[str]:
    """Yields that the last values have several readings, where they do."""
    every = (e.inferred, *e.inferred.others)
    if len(every) == 1:
        return
    late = {c.place for one in every for c in one.changes} - {c.place for c in _shared(every)}
    level = sum(one.probability for one in every if any(c.kind == "shift" and c.place in late for c in one.changes))
    which = "the last value is an outlier or begins" if len(late) == 1 else "the last values are outliers or begin"
    yield f"Whether {which} a new level (probability {percent(level)}) is not settled: the forecast allows for both."


def _shared(every: Sequence[Inferred]) -> set[Change]:
    """Returns the changes that all readings have."""
    return set(every[0].changes).intersection(*(one.changes for one in every[1:]))


def _echo(e: Explained, f: Facts) -> Iterator[str]:
    """Yields how long a deviation lasts, or that deviations alternate."""
    if f.echo < 0:
        yield "Deviations alternate: a high value tends to be followed by a low one."
    elif f.echo > 0:
        half = np.log(0.5) / np.log(min(f.echo, 0.999))
        unit = f"{e.series.unit}{'' if plain(half) == '1' else 's'}"
        yield f"Deviations from this fade by half in about {plain(half)} {unit}."


def _noise(f: Facts) -> str:
    """Returns the size of what cannot be foreseen."""
    return f"What a step brings beyond that is noise of about {_change(f.surprise, f.log)}."
