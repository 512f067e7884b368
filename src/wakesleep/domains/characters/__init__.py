"""Characters: drawings; the strokes of each and the bank that all share are to be found (section 4.2)."""

from pathlib import Path

from wakesleep.domains.characters.data import Settings, build, load, programs
from wakesleep.domains.characters.show import film, picture, show, words
from wakesleep.domains.contract import Domain

SHIPPED = Path(__file__).parent / "characters.safetensors"
DOMAIN = Domain("characters", Settings, load, build, show, words, picture, programs, film=film, shipped=SHIPPED)
