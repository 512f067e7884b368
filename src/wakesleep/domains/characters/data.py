"""Images of characters: made by the library, those of Omniglot, or files of a user's own."""

from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int8, Key

from wakesleep.core.model import Model, Observations
from wakesleep.data.images import read_images
from wakesleep.domains.characters import omniglot
from wakesleep.domains.characters.drawings import DRAWN, SIDE, drawing
from wakesleep.domains.characters.evaluator import Image, Renderer
from wakesleep.domains.characters.language import LENGTH, STROKES, Tokens
from wakesleep.domains.characters.networks import StrokePrior, StrokeRecognition
from wakesleep.domains.characters.vary import VaryingRecognition
from wakesleep.domains.contract import Dataset
from wakesleep.errors import Refusal, require_at_least, require_one_of

ALPHABETS = 50
MOST_DRAWINGS = 18
"""Of the 20 people who drew a character, two are left for those held out and those that settings are chosen on."""
MOST_VARIED = 3.0
MADE_STROKE_JITTER = 0.08
MADE_STROKES, MADE_LENGTH = 12, 5


@dataclass(frozen=True)
class Settings:
    """The settings of the characters domain."""

    images: str = "made"
    """made (drawn by random programs, embedded) or omniglot."""
    observations: int = 200
    """The number of images made, and of those held out."""
    per_alphabet: int = 10
    """omniglot: characters of each of its 50 alphabets."""
    drawings: int = 1
    """omniglot: drawings of each of these characters, each by another person."""
    condition: str = "none"
    """none or alphabet: what prior and recognition are told of an image."""
    data_seed: int = 0
    strokes: int = STROKES
    length: int = LENGTH
    reach: int = 4
    """The drawing may be shifted by up to this many pixels either way."""
    maps: int = 0
    """Linear maps of the strokes that the likelihood is summed over, beside the identity."""
    vary: float = 0.0
    """How far the drawings that recognition learns from are bent, 1 about as far as hands differ; 0 not at all."""
    hidden: int = 64
    prior_hidden: int = 16
    channels: int = 16
    data: Path | None = None

    def __post_init__(self) -> None:
        """Refuses settings that make no sense."""
        require_one_of("images", self.images, ("made", "omniglot"))
        require_one_of("condition", self.condition, ("none", "alphabet"))
        counts = ("observations", "per_alphabet", "drawings", "strokes", "length", "hidden", "prior_hidden", "channels")
        for name, least in [*((name, 1) for name in counts), ("reach", 0), ("maps", 0), ("vary", 0)]:
            require_at_least(name, getattr(self, name), least)
        if self.reach >= SIDE:
            raise Refusal(f"reach must be less than the {SIDE} pixels of an image, but {self.reach} was given.")
        if self.drawings > MOST_DRAWINGS:
            raise Refusal(f"drawings must be at most {MOST_DRAWINGS}, but {self.drawings} was given.")
        if not self.vary <= MOST_VARIED:
            raise Refusal(f"vary must be at most {MOST_VARIED:g}, but {self.vary:g} was given.")
        if self.condition == "alphabet" and self.images != "omniglot":
            raise Refusal("condition=alphabet needs images of known alphabets: set images=omniglot too.")


def load(settings: Settings) -> Dataset:
    """Reads the user's images where they are named, else the set that the settings name."""
    if settings.data is not None:
        return read(settings.data, settings)
    if settings.images == "made":
        return _made(settings)
    parts, names = splits(settings)
    train, drawers, characters = (parts[name] for name in ("train", "drawers", "characters"))
    held_out = jax.tree.map(lambda *a: jnp.concatenate(a), drawers, characters)
    note = (
        f"{len(train)} Omniglot images, {settings.per_alphabet} characters of each of {ALPHABETS} alphabets; held out "
        f"{len(drawers)} drawings of these by others and {len(characters)} other characters"
    )
    return Dataset(train, held_out, names, note)


def splits(settings: Settings) -> tuple[dict[str, Observations], list[str]]:
    """Returns three splits of Omniglot (train, other drawers, other characters), and names of the training images."""
    whole = omniglot.load()
    rows = omniglot.split(whole, settings.per_alphabet, settings.data_seed, settings.drawings)
    told = settings.condition == "alphabet"

    def observe(some: list[int]) -> Observations:
        c = jnp.asarray(whole.alphabet[some], jnp.int32) if told else None
        return Observations(jnp.asarray(whole.images(some)), c)

    names = [f"{whole.names[whole.alphabet[r]]} {whole.character[r]}" for r in rows.train]
    return {name: observe(getattr(rows, name)) for name in rows._fields}, names


def _made(settings: Settings) -> Dataset:
    keys = jax.random.split(jax.random.key(settings.data_seed))
    train, test = (Observations(_scrawl(key, settings.observations)) for key in keys)
    names = [f"image {i}" for i in range(settings.observations)]
    note = f"{len(train)} images drawn by random programs of up to {MADE_LENGTH} strokes, and as many held out"
    return Dataset(train, test, names, note)


@eqx.filter_jit
def _scrawl(key: Key[Array, ""], count: int) -> Int8[Array, "n y x"]:
    """Draws random programs over a bank of a few strokes, and their images, with jitter in each stroke."""
    bank = Renderer(jax.random.key(12), MADE_STROKES, 3)
    bank = eqx.tree_at(lambda r: (r.displacement, r.angle), bank, (bank.displacement * 1.2, bank.angle * 2))
    prior = StrokePrior(jax.random.key(0), MADE_STROKES, MADE_LENGTH, 4)

    def one(key: Key[Array, ""]) -> Image:
        key_z, key_jitter, key_place = jax.random.split(key, 3)
        shaken = bank.displacement + MADE_STROKE_JITTER * jax.random.normal(key_jitter, bank.displacement.shape)
        canvas = eqx.tree_at(lambda r: r.displacement, bank, shaken).draw(_some(key_z, prior))
        corner = jax.random.randint(key_place, (2,), 0, 5)
        moved = jax.lax.dynamic_slice(jnp.pad(canvas, 2), tuple(corner), (SIDE, SIDE))
        return (moved > 0.5).astype(jnp.int8)

    return jax.vmap(one)(jax.random.split(key, count))


def _some(key: Key[Array, ""], prior: StrokePrior) -> Tokens:
    """Draws a program that is not blank."""
    key_first, key_rest = jax.random.split(key)
    z = prior.sample(key_rest, None)
    first = jax.random.randint(key_first, (), 1, MADE_STROKES + 1)
    return jnp.where(jnp.any(z > 0), z, z.at[0].set(first))


def build(key: Key[Array, ""], settings: Settings, data: Observations) -> Model:
    """Returns an untrained model."""
    keys = jax.random.split(key, 3)
    alphabets = ALPHABETS if settings.condition == "alphabet" else 0
    shape = (settings.strokes, settings.length)
    seeing = (keys[2], *shape, settings.hidden, settings.channels, alphabets)
    return Model(
        StrokePrior(keys[0], *shape, settings.prior_hidden, alphabets),
        Renderer(keys[1], settings.strokes, settings.reach, settings.maps),
        VaryingRecognition(*seeing, spread=settings.vary) if settings.vary else StrokeRecognition(*seeing),
    )


def programs(settings: Settings, data: Observations) -> None:
    """Returns None: there are too many drawings to list."""
    return


def read(path: Path, settings: Settings) -> Dataset:
    """The images of a file or a folder."""
    if settings.condition == "alphabet":
        raise Refusal("The alphabet of your own images is not known: use a model without condition=alphabet.")
    pictures = read_images(path)
    images = jnp.asarray(np.stack([drawing(p.name, p.pixels) for p in pictures]))
    many = f"{len(pictures)} image{'s' * (len(pictures) > 1)}"
    note = f"{many} from {path.name}, each scaled to {DRAWN} pixels and centred"
    return Dataset(Observations(images), None, [p.name for p in pictures], note)
