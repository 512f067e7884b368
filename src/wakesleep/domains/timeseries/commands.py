"""The verbs that series bring to the command line: forecast and backtest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wakesleep.domains.contract import Command, Explanation, Report, option
from wakesleep.errors import Refusal

FILE_HELP = {"FILE": "A table with a column of times and columns of numbers, or unique_id, ds and y."}
MOST_ORIGINS = 1000
SEASON_HELP = "The season in steps, such as 12, or several, such as 7,365; 1 for none (default: by the calendar)."


@dataclass(frozen=True)
class Reading:
    """How a table is read."""

    column: str | None = option(None, "Read this column of values alone.")
    time: str | None = option(None, "The column of times (default: found).")
    id: str | None = option(None, "The column that tells the series of a long table apart; several with commas.")
    season: str | None = option(None, SEASON_HELP)

    def series(self, path: str) -> list[Any]:
        """Reads the series of a file."""
        from wakesleep.domains.timeseries.reading.tables import read_series

        season = None if self.season is None else whole_numbers("season", self.season)
        return read_series(path, self.column, self.time, self.id, season)


@dataclass(frozen=True)
class ForecastOptions(Reading):
    """The options of forecast."""

    horizon: int | None = option(None, "The number of steps (default: by the unit of time, such as 18 months).")
    until: str | None = option(None, "The last time to forecast, such as 2025-12, instead of a number of steps.")
    levels: str = option("80,90", "The levels of the bands in per cent.")
    combine: str = option("", "Models of statsforecast to pool with the programs, such as AutoETS,AutoTheta.")

    def __post_init__(self) -> None:
        """Refuses levels that are not between 1 and 99."""
        levels_of(self.levels)


@dataclass(frozen=True)
class BacktestOptions(Reading):
    """The options of backtest."""

    horizon: int | None = option(
        None, "The number of steps that each forecast goes ahead (default: by the unit of time)."
    )
    origins: int = option(5, "The number of times from which each series is forecast.")

    def __post_init__(self) -> None:
        """Refuses no origin, and too many."""
        if not 1 <= self.origins <= MOST_ORIGINS:
            raise Refusal(f"origins must be 1 to {MOST_ORIGINS}, but {self.origins} was given.")


def whole_numbers(name: str, text: str) -> list[int]:
    """Returns whole numbers that are separated by commas."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 8 for part in parts):
        raise Refusal(f"{name} must be whole numbers separated by commas, but {text!r} was given.")
    return [int(part) for part in parts]


def levels_of(text: str) -> tuple[int, ...]:
    """Returns the levels of bands, each once, the narrowest first."""
    found = whole_numbers("levels", text)
    if not all(1 <= level <= 99 for level in found):
        raise Refusal(f"levels must be whole numbers from 1 to 99, such as 80,90, but {text!r} was given.")
    return tuple(sorted(set(found)))


def forecast(words: Sequence[str], options: ForecastOptions, report: Report) -> Explanation:
    """Reads a file and forecasts each of its series."""
    from wakesleep.domains.timeseries.forecasting.forecasts import forecast_all

    every = options.series(words[0])
    names = tuple(name.strip() for name in options.combine.split(",") if name.strip())
    return forecast_all(every, options.horizon, options.until, levels_of(options.levels), report, names)


def backtest(words: Sequence[str], options: BacktestOptions, report: Report) -> Explanation:
    """Reads a file, forecasts what is known of each series from several origins, and scores it beside other tools."""
    from wakesleep.domains.timeseries.forecasting.backtest import score_past

    return score_past(options.series(words[0]), options.horizon, options.origins, report)


COMMANDS = {
    "forecast": Command(
        help="Forecast the series of a table, with bands.",
        arguments=FILE_HELP,
        options=ForecastOptions,
        run=forecast,
        files={"csv": "Write the forecasts to this CSV file.", "picture": "Draw the forecasts to this PNG."},
        shown="Series shown in the terminal.",
    ),
    "backtest": Command(
        help="Score forecasts of the past of a table's series, beside other tools.",
        arguments=FILE_HELP,
        options=BacktestOptions,
        run=backtest,
        files={"csv": "Write the scores of every series and method to this CSV file."},
        shown="Methods shown in the terminal.",
    ),
}
