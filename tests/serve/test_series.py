"""The page of series streams a first answer and better ones, says what each is, and can be stopped."""

import json

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the explorer's web framework is not installed")
pytest.importorskip("httpx2", reason="the in-process client is not installed")

from wakesleep.domains.pages import Asked
from wakesleep.domains.timeseries.explain import explain_series
from wakesleep.domains.timeseries.page import series as page
from wakesleep.serve.shelf import Shelf

from .client import TOKEN, client_of, explorer


def shifted(count, season=12, noise=1.0):
    """A line and a season with a shift half way and an outlier at a third."""
    t = np.arange(count)
    y = 100 + 0.1 * t + 5 * np.sin(2 * np.pi * t / season) + noise * np.random.default_rng(0).normal(size=count)
    y[count // 2 :] += 20
    y[count // 3] += 30
    return y


def fields(values, **more):
    return {"values": "\n".join(f"{v:.3f}" for v in values), "season": "12", "horizon": "6", **more}


@pytest.fixture(scope="module")
def client():
    made = explorer()
    with client_of(made) as found:
        yield found
    made.shelf.close()


def streamed(client, given):
    text = client.post(f"/{TOKEN}/series/stream/explain", data=given).text
    events = [block.split("\n", 1) for block in text.strip().split("\n\n")]
    assert events[-1][0] in ("event: end", "event: refusal")
    return [json.loads(data.removeprefix("data: ")) for name, data in events if name == "event: data"], events[-1]


def test_changes_come_after_the_first_answer_and_are_told_with_place_and_kind(client):
    y = shifted(120)
    looks, end = streamed(client, fields(y))
    assert end[0] == "event: end"
    assert [bool(look["changes"]) for look in looks] == [False, True]
    assert "not yet sought" in looks[0]["said"]
    changes = {c["what"]: c for c in looks[-1]["changes"]}
    assert changes["shift of level"]["at"] == 60
    assert changes["outlier"]["at"] == 40
    assert changes["outlier"]["value"] == pytest.approx(y[40], abs=1e-3)
    assert changes["outlier"]["expected"] == pytest.approx(y[40] - 30, abs=5)


def test_the_last_answer_is_that_of_explain_series(client):
    y = np.round(shifted(120), 3)
    last = streamed(client, fields(y))[0][-1]
    ours = explain_series(y, None, 12)
    assert last["sentences"] == ours.sentences()
    assert last["ahead"]["mean"] == pytest.approx(ours.forecast(6)["mean"].to_list())


@pytest.mark.parametrize("season", ["12", "24"], ids=["with a library", "with a stretched library"])
def test_a_long_series_is_first_looked_at_by_its_end(client, season):
    looks, end = streamed(client, fields(shifted(page.LONGEST_AT_ONCE + 1)) | {"season": season})
    assert end[0] == "event: end"
    assert len(looks[0]["observed"]) == page.LOOKED_AT_FIRST
    assert looks[0]["said"] == "a first look at the latest 300 of 601 values"
    assert len(looks[1]["observed"]) == page.LONGEST_AT_ONCE + 1
    assert looks[0]["labels"][-1] == looks[1]["labels"][-1]
    assert looks[0]["ahead"]["labels"] == looks[1]["ahead"]["labels"]


def test_work_that_nobody_waits_for_is_left():
    asked = Asked({k: [v] for k, v in fields(shifted(60)).items()}, Shelf(), lambda: True)
    assert list(page.explain(asked)) == []


@pytest.mark.parametrize(
    ("values", "said"), [([1.0] * 30, "constant"), ([1.0, 2.0], "at least"), (np.arange(5_001.0), "at most 5,000")]
)
def test_a_series_that_cannot_be_explained_gives_one_sentence(client, values, said):
    looks, end = streamed(client, fields(values))
    assert looks == []
    assert end[0] == "event: refusal"
    assert said in end[1]
