"""Images of automata: grown by seed, or read from files of two colours."""

from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key, UInt8

from wakesleep.core.model import Model, Observations, dream
from wakesleep.data.images import read_images
from wakesleep.domains.automata.evaluator import ABSENT, NoisyAutomaton, Picture, picture
from wakesleep.domains.automata.language import NEIGHBOURHOOD_SIZES, Rule, RulePrior, tables
from wakesleep.domains.automata.networks import Convolutional, Counting
from wakesleep.domains.contract import Dataset
from wakesleep.errors import Refusal, require_at_least, require_one_of

MOST_ENUMERATED_NEIGHBOURS = 3


@dataclass(frozen=True)
class Settings:
    """The settings of the automata domain."""

    observations: int = 500
    neighbours: int = 3
    unknown: bool = False
    """The number of neighbours, 1, 3, 5 or 7, differs from image to image and is part of the program."""
    noise: float = 0.02
    height: int = 64
    width: int = 64
    data_seed: int = 0
    recognition: str = "image"
    prior: str = "uniform"
    start_noise: float = 0.2
    channels: int = 64
    hidden: int = 64
    data: Path | None = None

    def __post_init__(self) -> None:
        """Refuses settings that make no sense."""
        if self.neighbours not in NEIGHBOURHOOD_SIZES:
            raise Refusal(f"neighbours must be 1, 3, 5 or 7, but {self.neighbours} was given.")
        require_one_of("recognition", self.recognition, ("image", "counts"))
        require_one_of("prior", self.prior, ("uniform", "learned"))
        for name, least in (("observations", 1), ("width", 2), ("channels", 1), ("hidden", 1)):
            require_at_least(name, getattr(self, name), least)
        require_at_least("height", self.height, self.sizes[-1])
        for name in ("noise", "start_noise"):
            if not 0 < getattr(self, name) < 1:
                raise Refusal(f"{name} must lie between 0 and 1, but {getattr(self, name)} was given.")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Returns the numbers of neighbours that a rule may have."""
        return NEIGHBOURHOOD_SIZES if self.unknown else (self.neighbours,)


def load(settings: Settings) -> Dataset:
    """Reads the user's images where they are named, else draws train and test sets from the true model."""
    if settings.data is not None:
        return read(settings.data, settings)
    key_train, key_test = jax.random.split(jax.random.key(settings.data_seed))
    neighbours = "1, 3, 5 or 7" if settings.unknown else settings.neighbours
    note = (
        f"{settings.observations} images of {settings.height} x {settings.width} cells grown by rules of {neighbours} "
        f"neighbours with {100 * settings.noise:g} % noise (data_seed {settings.data_seed}), and as many held out"
    )
    names = [f"image {i}" for i in range(settings.observations)]
    train, test = (synthesise(key, settings)[1] for key in (key_train, key_test))
    return Dataset(train, test, names, note)


def true_rules(settings: Settings) -> Rule:
    """Returns the rules that grew the training images of those settings."""
    return synthesise(jax.random.split(jax.random.key(settings.data_seed))[0], settings)[0]


def synthesise(key: Key[Array, ""], settings: Settings) -> tuple[Rule, Observations]:
    """Draws rules uniformly, and returns them with the images that they grow."""
    z, x = _dream(true_model(settings), key, settings.observations)
    return z, Observations(x)


@eqx.filter_jit
def _dream(model: Model, key: Key[Array, ""], count: int) -> tuple[Rule, Picture]:
    z, x = dream(model, key, None, count)
    return z, x


def true_model(settings: Settings) -> Model:
    """Returns the model that generates the synthetic images (its recognition is untrained)."""
    model = build(jax.random.key(0), settings, Observations(jnp.zeros((1, settings.height, settings.width))))
    shape, windows = (settings.height, settings.width), settings.recognition == "image"
    truth = NoisyAutomaton(settings.noise, settings.sizes, shape, windows)
    return Model(RulePrior(settings.sizes), truth, model.recognition)


def build(key: Key[Array, ""], settings: Settings, data: Observations) -> Model:
    """Returns an untrained model: noise at `start_noise`, rules of every kind equally likely."""
    _, height, width = jax.tree.leaves(data.x)[0].shape
    sizes, image = settings.sizes, settings.recognition == "image"
    recognition = Convolutional(key, sizes, settings.channels, settings.hidden) if image else Counting(key, sizes)
    return Model(
        RulePrior(sizes, settings.prior == "learned"),
        NoisyAutomaton(settings.start_noise, sizes, (height, width), image),
        recognition,
    )


def programs(settings: Settings, data: Observations) -> Rule | None:
    """Returns every rule, or None where there are too many."""
    size = settings.sizes[-1]
    if size > MOST_ENUMERATED_NEIGHBOURS:
        return None
    table = jnp.asarray(tables(size))
    return Rule(jnp.full(table.shape[0], size), table)


def read(path: Path, settings: Settings) -> Dataset:
    """The images of a file or a folder; of the two colours of each the darker is 1."""
    pictures = read_images(path)
    images = [cells(p.name, p.pixels) for p in pictures]
    for p, image in zip(pictures, images, strict=True):
        if image.shape[0] < settings.sizes[-1] or image.shape[1] < 2:
            raise Refusal(
                f"{p.name} has {image.shape[0]} rows and {image.shape[1]} columns, but {settings.sizes[-1]} neighbours "
                f"need at least {settings.sizes[-1]} rows and 2 columns."
            )
    note = f"{len(images)} image{'s' * (len(images) > 1)} from {path.name}, the darker colour is 1"
    return Dataset(Observations(stack(images, settings)), None, [p.name for p in pictures], note)


def cells(name: str, pixels: UInt8[np.ndarray, "h w 3"]) -> Int[np.ndarray, "h w"]:
    """The cells of an image of two colours, 1 where it is dark."""
    found, place = np.unique(pixels.astype(np.int32) @ np.array([65536, 256, 1]), return_inverse=True)
    if len(found) != 2:
        raise Refusal(f"{name} has {len(found)} colours, but an image of an automaton must have exactly two.")
    bright = [((f >> 16) & 255) + ((f >> 8) & 255) + (f & 255) for f in found]
    return (place.reshape(pixels.shape[:2]) == int(np.argmin(bright))).astype(np.int8)


def stack(images: list[Int[np.ndarray, "_ _"]], settings: Settings) -> Picture:
    """Images of any sizes as one batch, the smaller ones filled up; the counts are of the cells there are."""
    pictures = [picture(image, settings.sizes[-1], settings.recognition == "image") for image in images]
    shape = np.max([image.shape for image in images], axis=0)
    for i, p in enumerate(pictures):
        room = [(0, most - here) for most, here in zip(shape, p.image.shape, strict=True)]
        pictures[i] = p._replace(image=jnp.pad(p.image, room, constant_values=ABSENT))
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *pictures)
