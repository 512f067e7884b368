"""Tables of packages, read from archives made here; which of them are held out."""

import bz2
import gzip
import io
import json
import tarfile
import zipfile

import pytest

from wakesleep.domains.strings.columns.judge.gather import of_json, of_lines, tables_of
from wakesleep.domains.strings.columns.judge.packages import PACKAGES, Package
from wakesleep.domains.strings.columns.judge.sources import gathered_tables, group_of, is_held_out
from wakesleep.errors import Refusal

CITIES = [{"name": f"City {i}", "size": i, "land": {"code": "DE"}, "tags": ["x"]} for i in range(50)]
LINES = "a;b\n" + "".join(f"{i};x{i}\n" for i in range(50))


def tar(files):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def zipped(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def package(*files):
    return Package("pypi", "@who/things", "1.0", "MIT", files)


def test_tables_are_read_from_archives_inside_archives(tmp_path):
    inner = tar({"data/lines.csv": LINES.encode(), "data/._lines.csv": b"no table"})
    outer = {"p/inner.tar.gz": inner, "p/cities.json.gz": gzip.compress(json.dumps(CITIES).encode())}
    found = tables_of(package("lines.csv", "p/cities.json.gz"), zipped(tmp_path / "x.whl", outer))
    assert found["things--lines"][:2] == [["a", "b"], ["0", "x0"]]
    assert found["things--p-cities"][:2] == [["name", "size", "land.code"], ["City 0", "0", "DE"]]


def test_other_packings_and_records_by_line(tmp_path):
    lines = "\n".join(json.dumps(c) for c in CITIES)
    path = zipped(tmp_path / "x.whl", {"c.jsonl": lines, "l.csv.bz2": bz2.compress(LINES.encode())})
    assert {k: len(v) for k, v in tables_of(package("c.jsonl", "l.csv.bz2"), path).items()} == {
        "things--c": 51,
        "things--l": 51,
    }


def test_a_package_that_lacks_a_table_is_refused(tmp_path):
    with pytest.raises(Refusal, match=r"lacks other\.csv"):
        tables_of(package("other.csv"), zipped(tmp_path / "x.whl", {"lines.csv": LINES}))


def test_objects_of_records_keep_their_keys_and_short_lists_are_no_tables():
    (part, rows), *none = of_json({"all": {str(i): c for i, c in enumerate(CITIES)}, "few": CITIES[:5]})
    assert (part, rows[1], none) == ("-all", ["0", "City 0", "0", "DE"], [])
    assert list(of_json("text")) == []


def test_the_separator_is_the_one_that_every_line_has():
    assert of_lines("a|b,c\n1|2\n")[1] == ["1", "2"]


def test_packages_are_held_out_whole_unless_their_tables_are_apart():
    assert group_of("lahman--People") == group_of("lahman--Parks") == "lahman"
    assert group_of("pydataset--Cars93") == "pydataset--Cars93"
    assert is_held_out("schwifty--generated_de") and is_held_out("schwifty--generated_at-v2-entries")
    assert not is_held_out("lahman--People")


def test_no_package_is_listed_twice_and_every_one_has_a_licence():
    names = [p.name for p in PACKAGES]
    assert len(set(names)) == len(names)
    assert all(p.licence and p.files for p in PACKAGES)


def test_gathered_tables_are_split_in_two(tmp_path):
    for name in ("lahman--People", "schwifty--x"):
        (tmp_path / f"{name}.csv").write_text("a\n" + "".join(f"v{i}\n" for i in range(30)))
    assert list(gathered_tables(tmp_path, held_out=False)) == ["lahman--People"]
    assert list(gathered_tables(tmp_path, held_out=True)) == ["schwifty--x"]
    with pytest.raises(Refusal, match="no folder"):
        gathered_tables(tmp_path / "none", held_out=True)
