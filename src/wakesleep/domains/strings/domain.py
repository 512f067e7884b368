"""The domain of strings: its parts put together."""

from wakesleep.domains.contract import Domain
from wakesleep.domains.strings.data import Settings, build, load, programs
from wakesleep.domains.strings.evaluator import Strings
from wakesleep.domains.strings.explain import EXPLAINER
from wakesleep.domains.strings.show import picture, show, words

DOMAIN = Domain(
    name="strings",
    settings=Settings,
    load=load,
    build=build,
    show=show,
    words=words,
    picture=picture,
    programs=programs,
    observation=Strings,
    explainer=EXPLAINER,
)
