import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Files
from safetensors.numpy import load_file

from tests.domains.characters.hands import HOUSE_IMAGE, PLUS, SEVEN, ink_of, small_hand
from wakesleep.domains.characters.explain import EXPLAINER, Options
from wakesleep.domains.characters.hand import files
from wakesleep.domains.characters.hand.compare import overlap
from wakesleep.domains.characters.hand.pictures import svg
from wakesleep.domains.characters.hand.strokes import Pen
from wakesleep.domains.characters.hand.words import describe
from wakesleep.errors import Refusal


def test_strokes_are_told_in_words():
    assert describe(SEVEN) == ["from the top left: a line right, then a long clockwise bow down left"]
    lower = Pen(np.array([[14.0, 13.0], [20.0, 20.0]]), np.array([-1.2]))
    assert describe((PLUS[1], lower)) == [
        "from the top left: a long line right",
        "from 1: an anticlockwise bow down right",
    ]
    dot = Pen(np.array([[4.0, 13.0], [4.0, 13.4]]), np.zeros(1))
    assert describe((PLUS[1], dot))[1] == "from the start of 1: a dot"


def test_overlap_is_intersection_over_union_with_a_tolerance():
    one, two = np.zeros((28, 28), bool), np.zeros((28, 28), np.int8)
    one[5, 5:10], two[6, 5:10] = True, 1
    assert overlap(one, two) == 0.0
    assert overlap(one, two, 1) == 1.0
    two[20, 20] = 1
    assert overlap(one, two, 1) == pytest.approx(10 / 11)
    assert overlap(one, one.astype(np.int8)) == 1.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two drawings: dark on light, antialiased and large; and light on dark, small."""
    path = tmp_path_factory.mktemp("drawings")
    large = Files.fromarray(255 - 255 * HOUSE_IMAGE.astype(np.uint8)).resize((301, 301), Files.Resampling.BICUBIC)
    large.save(path / "a.png")
    Files.fromarray(200 * ink_of(SEVEN).astype(np.uint8)).save(path / "b.png")
    return path


@pytest.fixture(scope="module")
def explained(folder):
    return EXPLAINER.explain(EXPLAINER.read(str(folder), Options()), Options(), lambda _: None)


def test_drawings_of_any_size_and_ground_are_explained(explained):
    rows = explained.rows(2)
    assert [r["name"] for r in rows] == ["a.png", "b.png"]
    for row in rows:
        assert sum(p["probability"] for p in row["programs"]) <= 1 + 1e-9
        assert row["overlap"] > 0.85
        assert 0 < row["bits_per_pixel"] < 0.4
        assert row["programs"][0]["program"].startswith("1 from")
    json.dumps(rows)
    (table,) = explained.table(1)
    assert table.rows[0][0] == "a.png"


def test_explanations_are_written_as_picture_film_svg_and_report(explained, tmp_path):
    for name, suffix in (("picture", "png"), ("film", "gif"), ("svg", "svg"), ("report", "html")):
        assert explained.write(name, tmp_path / f"out.{suffix}").stat().st_size > 500
    with Files.open(tmp_path / "out.gif") as film:
        assert film.n_frames > 5
    assert (tmp_path / "out.svg").read_text().count("<path") == sum(len(f.programs[0]) for f in explained.found)


def test_an_svg_escapes_names():
    assert "<b>" not in svg([("<b>&", PLUS)])


def test_an_unknown_model_is_refused():
    with pytest.raises(Refusal, match="hand, bank"):
        Options(model="pencil")


def test_explaining_imports_no_jax(folder):
    code = (
        "import sys; from wakesleep.domains.characters.explain import EXPLAINER as e; o = e.options();"
        f"e.explain(e.read({str(folder / 'b.png')!r}, o), o, lambda _: None).rows(); assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_hand_survives_its_file_and_a_damaged_file_is_refused(tmp_path):
    hand = small_hand()
    files.save(tmp_path / "hand.safetensors", hand, {"licence": "MIT"})
    back = files.load(tmp_path / "hand.safetensors")
    for a, b in zip([*hand.prior, *hand.nib], [*back.prior, *back.nib], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert files.card(tmp_path / "hand.safetensors") == {"licence": "MIT"}
    bad = hand._replace(prior=hand.prior._replace(mean=hand.prior.mean * np.nan))
    files.save(tmp_path / "nan.safetensors", bad, {})
    (tmp_path / "text.safetensors").write_text("no hand")
    for name in ("nan", "text", "absent"):
        with pytest.raises(Refusal):
            files.load(tmp_path / f"{name}.safetensors")


def test_the_shipped_hand_is_small_and_has_a_card():
    from wakesleep.domains.characters.explain import HAND

    assert HAND.stat().st_size < 3_000_000
    assert {"data", "licence", "command"} <= set(files.card(HAND))
    hand = files.load(HAND)
    for shares in (hand.prior.decide, hand.prior.opening, hand.prior.following, hand.prior.relation):
        np.testing.assert_allclose(shares.sum(axis=-1), 1, atol=1e-12)


def test_the_shipped_hand_is_the_one_that_its_command_made():
    from wakesleep.domains.characters.explain import HAND

    arrays = load_file(HAND)
    digest = hashlib.sha256(b"".join(arrays[name].tobytes() for name in sorted(arrays))).hexdigest()[:16]
    (row,) = json.loads((Path(__file__).parents[3] / "results" / "characters-hand.json").read_text())["rows"]
    card = files.card(HAND)
    assert digest == row["digest"] == card["digest"]
    assert card["command"] == "wakesleep reproduce characters-hand"
    assert card["curve"] == row["curve"]
