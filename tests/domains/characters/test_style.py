import numpy as np
import pytest
from PIL import Image as Files

from tests.domains.characters.hands import PLUS, SEVEN, ink_of, small_hand, some_program
from wakesleep.domains.characters import omniglot
from wakesleep.domains.characters.commands import COMMANDS, InventOptions, Options
from wakesleep.domains.characters.hand import alphabets
from wakesleep.domains.characters.hand.edits import inked
from wakesleep.domains.characters.hand.strokes import Pen
from wakesleep.domains.characters.hand.style import style
from wakesleep.domains.characters.hand.trails import read_off
from wakesleep.domains.characters.omniglot import Omniglot, alphabet
from wakesleep.errors import Refusal


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("drawings")
    for i, program in enumerate((SEVEN, PLUS, (PLUS[1],))):
        Files.fromarray(255 - 255 * ink_of(program).astype(np.uint8)).save(path / f"{i}.png")
    return path


def ignore(standing):
    return


def test_new_examples_look_like_the_drawing_and_differ(folder, tmp_path):
    made = COMMANDS["redraw"].run([str(folder / "0.png")], Options(number=3), ignore)
    (row,) = made.rows()
    assert row["name"] == "0.png"
    ((_, _, programs),) = made.given
    assert len({tuple(p[0].knots.ravel()) for p in programs}) == 3
    for program in programs:
        assert np.abs(inked(program).mean(axis=0) - inked(SEVEN).mean(axis=0)).max() < 5
    assert made.write("picture", tmp_path / "a.png").stat().st_size > 500
    assert made.write("svg", tmp_path / "a.svg").read_text().count("<g ") == 3


def test_new_characters_lie_on_the_canvas_and_are_the_same_again(folder):
    first, again = (COMMANDS["invent"].run([str(folder)], InventOptions(number=4), ignore) for _ in range(2))
    assert first.rows(4) == again.rows(4)
    for program in first.given[0][2]:
        assert inked(program).min() > 0
        assert inked(program).max() < 28


def test_without_omniglot_an_alphabet_has_the_style_that_ships(tmp_path, monkeypatch):
    omniglot.load.cache_clear()
    monkeypatch.setenv("WAKESLEEP_DATA", str(tmp_path))
    made = COMMANDS["invent"].run([], InventOptions(number=5, alphabet="Hebrew"), ignore)
    assert made.notes() == ["5 new characters in the style of Hebrew, as it ships with the package"]
    for program in made.given[0][2]:
        points = inked(program)
        np.testing.assert_allclose((points.min(axis=0) + points.max(axis=0)) / 2, 14.0, atol=1e-6)
    assert made.write("picture", tmp_path / "a.png").stat().st_size > 500
    with pytest.raises(Refusal, match="'Klingon' names 0 alphabets"):
        COMMANDS["invent"].run([], InventOptions(alphabet="Klingon"), ignore)


def test_a_style_is_that_of_its_drawings():
    # All given strokes are long and go down, so dreams of the style mostly do.
    rng = np.random.default_rng(0)
    down = [(Pen(np.array([[x, 5.0], [x, 22.0]]), np.zeros(1)),) for x in rng.uniform(8, 20, 40)]
    prior, sizes = style(small_hand().prior, down, rng)
    assert sizes == (17.0, 17.0)
    assert np.abs(prior.opening @ prior.mean[:, :2])[1] > 10
    assert prior.decide[0, 0, 2] > 0.7


def test_styles_are_the_same_from_a_file(tmp_path):
    rng = np.random.default_rng(0)
    made = {f"alphabet {n}": style(small_hand().prior, [SEVEN, PLUS, some_program(rng, [n])], rng) for n in (1, 3)}
    kept = alphabets.load(alphabets.save(tmp_path / "styles", made, {"licence": "none"}))
    assert list(kept) == list(made)
    for name, one in made.items():
        assert kept[name].sizes == pytest.approx(one.sizes)
        for part, array in one.prior._asdict().items():
            np.testing.assert_allclose(getattr(kept[name].prior, part), array, rtol=1e-5, atol=1e-6)
    alphabets.save(tmp_path / "styles", {"one": made["alphabet 1"]._replace(sizes=(np.nan, 1.0))}, {})
    for path in (tmp_path / "styles", tmp_path / "none"):
        with pytest.raises(Refusal):
            alphabets.load(path)


def test_every_style_that_ships_draws_characters_of_its_size_on_the_canvas():
    shipped, rng = alphabets.shipped(), np.random.default_rng(0)
    assert len(shipped) == 50
    for one in shipped.values():
        for program in one.draw(2, rng):
            points = inked(program)
            assert (points > 0).all()
            assert (points < 28).all()
            assert one.sizes[0] <= np.ptp(points, axis=0).max() <= one.sizes[1]


def test_what_is_no_style_is_refused(folder):
    for words, options in (([], {}), ([str(folder)], {"alphabet": "Greek"}), ([str(folder / "0.png")], {})):
        with pytest.raises(Refusal):
            COMMANDS["invent"].run(words, InventOptions(**options), ignore)
    for wrong in ({"number": 0}, {"number": 10**6}, {"seed": -1}):
        with pytest.raises(Refusal):
            Options(**wrong)


def test_an_alphabet_is_found_by_number_or_by_a_part_of_its_name():
    none = np.zeros(0, np.uint8)
    data = Omniglot(none[:, None], none, none, none, ["Greek", "Old Greek", "Latin"])
    assert alphabet(data, "2") == alphabet(data, "lat") == 2
    for word in ("greek", "3", "Klingon", ""):
        with pytest.raises(Refusal):
            alphabet(data, word)


def test_strokes_are_read_off_a_drawing_of_any_size():
    for program in (SEVEN, some_program(np.random.default_rng(1), [1])):
        image = Files.fromarray(255 * ink_of(program).astype(np.uint8)).resize((112, 112), Files.Resampling.BICUBIC)
        points, given = inked(read_off(np.asarray(image) > 127)), inked(program)
        given = given[((given > 1) & (given < 27)).all(axis=1)]
        nearest = np.sqrt(((given[:, None] - points) ** 2).sum(axis=-1)).min(axis=1)
        assert np.mean(nearest < 2) > 0.9
