"""What pages ask and what they are answered: fragments, streams, files, and one sentence where something is wrong."""

import gzip
import json
import random
import re

import pytest

pytest.importorskip("starlette", reason="the explorer's web framework is not installed")
pytest.importorskip("httpx2", reason="the in-process client is not installed")

from hypothesis import given, settings
from hypothesis import strategies as st

from wakesleep.domains.pages import Asked, Page
from wakesleep.errors import Refusal
from wakesleep.serve import bodies, shelf
from wakesleep.serve.shelf import Shelf

from .client import TOKEN, client_of, explorer

IN_PAGE = {"hx-request": "true"}
VALUES = "\n".join(f"AB-{i:04d}" for i in range(0, 700, 37))


@pytest.fixture(scope="module")
def client():
    made = explorer()
    with client_of(made) as found:
        yield found
    made.shelf.close()


def ask(client, page, question, **fields):
    return client.post(f"/{TOKEN}/{page}/ask/{question}", data=fields, headers=IN_PAGE)


def word_of(text):
    return re.search(r'data-explained="([^"]+)"', text)[1]


def sentence_of(answer):
    """The sentence of a refusal; nothing of a traceback is in it."""
    found = re.findall(r'<p class="refusal" role="alert">(.*?)</p>', answer.text, re.DOTALL)
    assert len(found) == 1
    assert "Traceback" not in answer.text
    return found[0]


def events(text):
    found = []
    for block in text.strip().split("\n\n"):
        name, *lines = block.split("\n")
        found.append((name.removeprefix("event: "), "\n".join(line.removeprefix("data: ") for line in lines)))
    return found


def test_a_column_is_explained_and_coloured(client):
    text = ask(client, "column", "explain", values=VALUES).text
    assert "^AB-[0-9]{4}$" in text
    assert '<span class="part p0" title="part 1">AB-</span><span class="part p1" title="part 2">0037</span>' in text


def test_a_typed_value_is_judged(client):
    explained = word_of(ask(client, "column", "explain", values=VALUES).text)
    assert "<strong>Fits</strong>" in ask(client, "column", "value", explained=explained, value="AB-9999").text
    wrong = ask(client, "column", "value", explained=explained, value="AB-99X9").text
    assert "<strong>Does not fit</strong>" in wrong
    assert ask(client, "column", "value", explained=explained, value="").text.strip() == ""


def test_a_rejected_value_moves_the_posterior(client):
    first = ask(client, "column", "explain", values="red\ngreen\nblue\nred\nblue").text
    assert "before" not in re.findall(r"<th[^>]*>(.*?)</th>", first)
    second = ask(client, "column", "explain", values="red\ngreen\nblue\nred\nblue\nxx9", reject="xx9",
                 explained=word_of(first)).text  # fmt: skip
    assert "before" in re.findall(r"<th[^>]*>(.*?)</th>", second)
    assert 'name="reject" value="xx9" checked' in second
    assert '<td class="mono"><span class="stray">xx9' not in second


@pytest.mark.parametrize(("form", "has"), [("re", "re.compile"), ("pandera", "pa.Column"), ("json-schema", "pattern")])
def test_the_rule_is_exported(client, form, has):
    explained = word_of(ask(client, "column", "explain", values=VALUES, name="code").text)
    answer = client.get(f"/{TOKEN}/column/ask/export?form={form}&explained={explained}")
    assert has in answer.text
    assert answer.headers["content-disposition"].startswith("attachment")


def test_markup_in_values_is_shown_and_not_run(client):
    hostile = '<script>alert(1)</script>\n"><img src=x onerror=alert(1)>\n{{ 7 * 7 }}\n<b>'
    text = ask(client, "column", "explain", values=hostile, name="<i>", reject="<u>x").text
    assert "<script>" not in text
    assert "<img" not in text
    assert "<u>" not in text
    assert "{{ 7 * 7 }}" in text


def upload(client, body, name="t.csv"):
    answer = client.post(f"/{TOKEN}/upload", params={"name": name}, content=body)
    return answer.json()["file"]


def test_a_table_streams_a_row_for_each_column(client):
    rows = "".join(f"K{i:03d},{'open' if i % 3 else 'shut'},\n" for i in range(30))
    word = upload(client, ("code,state,none\n" + rows).encode())
    found = events(client.get(f"/{TOKEN}/table/stream/columns?file={word}").text)
    parts = [data for name, data in found if name == "part"]
    assert len(parts) == 3
    assert "^K[0-9]{3}$" in parts[0]
    assert "no values" in parts[2]
    assert found[-1][0] == "end"
    survey = json.loads([data for name, data in found if name == "data"][-1])["survey"]
    report = client.get(f"/{TOKEN}/table/ask/download?form=report&survey={survey}")
    assert report.text.startswith("<!doctype html>")
    assert "K[0-9]{3}" in client.get(f"/{TOKEN}/table/ask/download?form=re&survey={survey}").text


def test_a_column_of_a_table_is_opened_on_its_own_page(client):
    word = upload(client, b"code,state\nA1,x\nA2,y\n")
    text = client.get(f"/{TOKEN}/column/", params={"file": word, "column": "state"}).text
    assert ">x\ny</textarea>" in text


MALFORMED = [
    b"", b"\x00" * 100, b"\xff\xfe\x00", b"a,b\n" + b'"' * 999, b"PK\x03\x04" + b"x" * 50,
    b"PAR1" + b"\x00" * 64 + b"PAR1", gzip.compress(b"")[:9], gzip.compress(b"a" * 100)[:-8],
    b"\x89PNG\r\n\x1a\n" + b"\x00" * 30, b"{" * 5000, b'{"a": 1}\n{"b"', b"\n" * 1000, b"," * 20000, b"\xef\xbb\xbf",
    b"a\r\r\rb", b"%PDF-1.4", b"\x1f\x8b" + b"\x00" * 20, b"<html></html>",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 512, bytes(range(256)) * 4,
]  # fmt: skip
NAMES = ["t.csv", "t.xlsx", "t.parquet", "t.jsonl", "../../t.csv", "t.csv.gz", "\x00", "a" * 3000 + ".csv", "t", ".csv"]


@pytest.mark.parametrize("number", range(len(MALFORMED)))
def test_a_malformed_file_gives_one_sentence(client, number):
    word = upload(client, MALFORMED[number], NAMES[number % len(NAMES)])
    found = events(client.get(f"/{TOKEN}/table/stream/columns?file={word}").text)
    assert found[-1][0] in ("refusal", "end")
    assert "Traceback" not in found[-1][1]
    assert "This did not work" not in found[-1][1]
    assert client.get(f"/{TOKEN}/").status_code == 200


@pytest.mark.parametrize("name", ["..", ".", "a/..", "\U0001f600" * 120 + ".csv", "\ud800.csv", " ", "...", "a\n\x1b"])
def test_a_file_of_any_name_is_kept(client, name):
    word = upload(client, b"a\n1\n", name.encode("utf-8", "surrogatepass"))
    assert events(client.get(f"/{TOKEN}/table/stream/columns?file={word}").text)[-1][0] == "end"


BAD = [{}, {"values": " \n "}, *({"values": "a", "generality": word} for word in ("x", "99", "nan"))]


@pytest.mark.parametrize("fields", BAD)
def test_a_bad_question_gives_one_sentence(client, fields):
    answer = ask(client, "column", "explain", **fields)
    assert answer.status_code == 422
    assert sentence_of(answer).endswith(".")


def test_a_forgotten_word_gives_one_sentence(client):
    assert "no longer kept" in sentence_of(ask(client, "column", "value", explained="gone", value="a"))
    assert "no longer kept" in events(client.get(f"/{TOKEN}/table/stream/columns?file=gone").text)[0][1]


def test_an_error_nobody_foresaw_gives_one_sentence(tmp_path, capsys):
    def broken(asked):
        raise KeyError("secret")

    (tmp_path / "odd.html").write_text("")
    made = explorer({"odd": Page(name="Odd", idea="", folder=tmp_path, answers={"x": broken}, streams={"y": broken})})
    with client_of(made) as client:
        answer = client.get(f"/{TOKEN}/odd/ask/x")
        assert answer.status_code == 500
        assert "secret" not in answer.text
        assert "KeyError" in sentence_of(answer)
        streamed = events(client.get(f"/{TOKEN}/odd/stream/y").text)
        assert streamed[0][0] == "refusal"
    assert "secret" in capsys.readouterr().err
    made.shelf.close()


def test_a_body_above_the_limit_is_refused(client, monkeypatch):
    monkeypatch.setattr(bodies, "UPLOAD_BYTES", 1 << 20)
    as_json = {"accept": "application/json"}
    answer = client.post(f"/{TOKEN}/upload?name=a", content=b"x" * ((1 << 20) + 1), headers=as_json)
    assert answer.status_code == 413
    assert "larger than 1 MB" in answer.json()["refusal"]

    def unannounced():
        for _ in range(20):
            yield b"x" * (1 << 16)

    answer = client.post(f"/{TOKEN}/upload?name=a", content=unannounced(), headers=as_json)
    assert answer.status_code == 413


def test_the_shelf_forgets_the_oldest_and_deletes_its_files(client, monkeypatch):
    monkeypatch.setattr(shelf, "MOST_FILES", 2)
    words = [upload(client, b"a\n1\n", f"{i}.csv") for i in range(3)]
    assert client.get(f"/{TOKEN}/column/", params={"file": words[0]}).status_code == 422
    assert client.get(f"/{TOKEN}/column/", params={"file": words[2]}).status_code == 200


def test_a_file_of_the_user_is_never_deleted(tmp_path, monkeypatch):
    from wakesleep.domains.pages import Upload

    monkeypatch.setattr(shelf, "MOST_FILES", 1)
    own, kept = tmp_path / "own.csv", Shelf()
    own.write_text("a")
    kept.keep(Upload("own.csv", own))
    kept.keep(Upload("other.csv", tmp_path / "other.csv"))
    kept.close()
    assert own.exists()


TEXT = st.text(st.characters(codec="utf-8"), max_size=40)


@settings(max_examples=15, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=6), TEXT, TEXT)
def test_any_values_and_any_typed_value_are_answered(values, typed, rejected):
    made = CLIENTS[0]
    found = ask(made, "column", "explain", values="\n".join(values), reject=rejected)
    assert found.status_code in (200, 422)
    if found.status_code == 200:
        assert ask(made, "column", "value", explained=word_of(found.text), value=typed).status_code == 200
    else:
        sentence_of(found)


CLIENTS = []


@pytest.fixture(autouse=True)
def _shared(client):
    CLIENTS[:] = [client]


def test_random_bytes_as_forms_are_refused_or_answered(client):
    drawn = random.Random(0)
    for _ in range(60):
        body = drawn.randbytes(drawn.randrange(200))
        kind = {"content-type": "application/x-www-form-urlencoded", **IN_PAGE}
        for name in ("explain", "value", "export"):
            answer = client.post(f"/{TOKEN}/column/ask/{name}", content=body, headers=kind)
            assert answer.status_code in (200, 422)


def test_a_number_outside_its_range_is_refused():
    asked = Asked({"x": ["3"], "y": ["inf"]}, Shelf())
    assert asked.number("x", 0, 0, 5) == 3
    for name, least, most in (("x", 4, 5), ("y", 0, 5)):
        with pytest.raises(Refusal):
            asked.number(name, 0, least, most)
