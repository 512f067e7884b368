"""The domain of clusters: its parts put together."""

from wakesleep.domains.clusters.data import Settings, build, load, programs
from wakesleep.domains.clusters.explain import EXPLAINER
from wakesleep.domains.clusters.show import picture, show, words
from wakesleep.domains.contract import Domain

DOMAIN = Domain(
    name="clusters",
    settings=Settings,
    load=load,
    build=build,
    show=show,
    words=words,
    picture=picture,
    programs=programs,
    explainer=EXPLAINER,
)
