"""Known programs that a column may be of: concepts by name, dates, amounts."""

from collections.abc import Sequence

from wakesleep.domains.strings.columns.amounts import amount_concepts, base64_texts
from wakesleep.domains.strings.columns.candidates import aligned, stray_scores
from wakesleep.domains.strings.columns.checked_reading import checked_concepts
from wakesleep.domains.strings.columns.concepts import MAKERS, Concept, concept
from wakesleep.domains.strings.columns.date_reading import date_concepts
from wakesleep.domains.strings.columns.nodes import Node
from wakesleep.domains.strings.columns.slots import Reading
from wakesleep.domains.strings.columns.vocabulary import holding

PROBES = 6
LEAST_WRITTEN_SHARE = 0.6
"""Share of the values that a concept must be able to write."""
LONGEST_KNOWN_VALUE = 400


def known_programs(values: Sequence[str], reading: Reading) -> list[tuple[str, Node]]:
    """Returns concepts that can write most of the values."""
    probes = values[:: max(1, len(values) // PROBES)][:PROBES]
    if max(map(len, probes)) > LONGEST_KNOWN_VALUE:
        return []
    found: list[Concept] = [c for c in map(concept, MAKERS) if _writes(c, probes)]
    found += map(concept, holding(list(dict.fromkeys(values))))
    found += date_concepts(values)
    found += checked_concepts(values, lambda payloads: _payloads(payloads, reading), reading)
    kept: list[tuple[str, Node]] = [("concept", c) for c in found if _writes(c, values)]
    kept += [("concept", c) for c in base64_texts(values, reading)]
    return kept + [("amount", c) for c in amount_concepts(values, reading)]


def _payloads(texts: Sequence[str], reading: Reading) -> list[Node]:
    """Returns programs for what stands before check characters: runs of one kind, or letters and digits mixed."""
    strays = stray_scores(texts)
    found = [aligned(texts, level, reading, strays) for level in ("titles", "alphanumeric")]
    return list(dict.fromkeys(node for node in found if node is not None))


def _writes(node: Node, values: Sequence[str]) -> bool:
    need = LEAST_WRITTEN_SHARE * len(values)
    missed = 0
    for v in values:
        missed += node.log_prob(v) == float("-inf")
        if len(values) - missed < need:
            return False
    return True
