"""The domain of timeseries: its parts put together."""

from wakesleep.domains.contract import Domain
from wakesleep.domains.timeseries.data import Settings, build, load, programs
from wakesleep.domains.timeseries.explain import EXPLAINER
from wakesleep.domains.timeseries.likelihood import Series
from wakesleep.domains.timeseries.show import picture, show, words

DOMAIN = Domain(
    name="timeseries",
    settings=Settings,
    load=load,
    build=build,
    show=show,
    words=words,
    picture=picture,
    programs=programs,
    observation=Series,
    explainer=EXPLAINER,
)
