"""Whether the first row is a header is told from the values below it."""

import pytest

from wakesleep.data.headers import column_names, find_header
from wakesleep.data.tables import read_table

DATA = [["HF11", "3.5", "red"], ["HF12", "7", "green"], ["HF3", "1e3", "red"], ["HF40", "-2", "blue"]]


@pytest.mark.parametrize(
    ("rows", "present"),
    [
        ([["code", "n", "colour"], *DATA], True),
        (DATA, False),
        ([["HF1", "n/a", "red"], *DATA], False),
        ([["country", "2019", "2020"], ["Peru", "1", "2"], ["Chad", "3", "4"]], True),
        ([["country", "2020-01", "2020-02"], ["Peru", "1", "2"], ["Chad", "3", "4"]], True),
        ([["name"], ["Ann"], ["Bob"], ["Cy"]], True),
        ([["Ann"], ["Bob"], ["Ann"], ["Cy"]], False),
        ([["day"], ["2024-01-31"], ["2024-02-01"]], True),
        ([["2024-01-30"], ["2024-01-31"], ["2024-02-01"]], False),
        ([["1"], ["2"], ["3"]], False),
        ([["a", "b"], ["a", "b"], ["x", "y"], ["x", "z"]], True),
        ([["x1", "x2"], ["0.5", "3"], ["0.1", "9"]], True),
        ([["a", "b"]], True),
    ],
)
def test_a_header_differs_from_what_is_below_it(rows, present):
    assert find_header(rows).present == present


def test_without_a_header_columns_are_called_by_their_place_and_the_first_row_is_a_value(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("".join(",".join(row) + "\n" for row in DATA))
    table = read_table(path, rows="all")
    assert table.names == ["column 1", "column 2", "column 3"]
    assert table.columns[0].values[0] == "HF11"
    assert table.rows == 4
    assert table.header.startswith("no header: 3 of 3 cells")
    said = read_table(path, rows="all", header=True)
    assert (said.names[0], said.rows) == ("HF11", 3)
    path.write_text("name\nAnn\nBob\n")
    assert read_table(path, rows="all", header=False).columns[0].values[0] == "name"


def test_names_are_distinct_whatever_they_are():
    names, notes = column_names(["a"] * 5 + [""] * 3 + ["a_2", "column 6"])
    assert len(set(names)) == len(names) == 10
    assert names[0] == "a"
    assert len(notes) == 2
