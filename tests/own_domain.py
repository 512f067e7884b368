"""A user's own domain around the toy model, as the text of a file outside the package."""

OWN_DOMAIN = """
from dataclasses import dataclass

import jax

from tests.toy import ALL_PROGRAMS, toy_data, toy_model
from wakesleep.domains.contract import Dataset, Domain


@dataclass(frozen=True)
class Settings:
    observations: int = 8


def load(settings):
    data = toy_data(jax.random.key(1), settings.observations)
    return Dataset(data, None, [f"toy {i}" for i in range(len(data))], "toy observations")


DOMAIN = Domain(
    name="toy",
    settings=Settings,
    load=load,
    build=lambda key, settings, data: toy_model(key),
    show=lambda z: str(int(z[0])),
    words=int,
    picture=lambda *given: None,
    programs=lambda settings, data: ALL_PROGRAMS,
)
"""
