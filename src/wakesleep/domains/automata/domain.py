"""The domain of automata: its parts put together."""

from wakesleep.domains.automata.data import Settings, build, load, programs
from wakesleep.domains.automata.evaluator import Picture
from wakesleep.domains.automata.explain import EXPLAINER
from wakesleep.domains.automata.show import picture, remarks, show, words
from wakesleep.domains.contract import Domain

DOMAIN = Domain(
    name="automata",
    settings=Settings,
    load=load,
    build=build,
    show=show,
    words=words,
    picture=picture,
    programs=programs,
    remarks=remarks,
    observation=Picture,
    explainer=EXPLAINER,
)
