"""The domain of characters: its parts put together."""

from pathlib import Path

from wakesleep.domains.characters.data import Settings, build, load, programs
from wakesleep.domains.characters.explain import EXPLAINER
from wakesleep.domains.characters.show import film, picture, show, words
from wakesleep.domains.contract import Domain

SHIPPED_FILE = Path(__file__).parent / "characters.safetensors"
DOMAIN = Domain(
    name="characters",
    settings=Settings,
    load=load,
    build=build,
    show=show,
    words=words,
    picture=picture,
    programs=programs,
    film=film,
    shipped=SHIPPED_FILE,
    explainer=EXPLAINER,
)
