"""Kernel expressions as tokens: sums of products of simple kernels, every one in a single canonical spelling.

The paper's grammar is K -> K + K | K * K | WN | SE | Per | C. Multiplication distributes over addition, so every
expression of it is a sum of products, and brackets are needed only on paper (`parse` reads them). A program is that
sum with the factors of a product and the terms of the sum in order, END filling it up: what differs only in order is
one program, and so is what the algebra of kernels makes equal (SE * SE is an SE, WN times anything stationary is WN).
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float, Int

from wakesleep.core.networks import END, Grammar, grammar
from wakesleep.errors import Refusal

KERNEL_SPELLINGS = ("", "+", "*", "C", "Lin", "RW", "SE", "M12", "M32", "Per", "WN")
KERNEL_TOKENS = {spelling: token for token, spelling in enumerate(KERNEL_SPELLINGS)}
ADD, MULTIPLY, C, LIN, RW, SE, M12, M32, PER, WN = range(1, 11)
DECAYING = (SE, M12, M32)
SINGLE_KERNELS = (LIN, RW, WN)
"""Kernels that are no factor of a product."""
PAPER_KERNELS = "C SE Per WN"
ALL_KERNELS = "C Lin RW SE M12 M32 Per WN"
MOST_VARIABLES = 12
"""The most continuous variables that an expression may have."""
MOST_PERIODIC = 2
"""The most periodic factors of a product."""

Term = tuple[int, ...]
Terms = tuple[Term, ...]


class Kernel(NamedTuple):
    """A program: its tokens, and beside them the carried Gaussian over its continuous variables, in log-space."""

    tokens: Int[Array, "t"]
    mean: Float[Array, "v"]
    root: Float[Array, "v v"]
    """The lower triangular root of the covariance."""


@cache
def rules(kernels: str = ALL_KERNELS, scaled: bool = True) -> Grammar:
    """Returns the automaton that writes canonical expressions over those kernels, and no others.

    Where expressions are `scaled`, every term has a variance of its own; else, as in the paper, a factor C gives one.
    """
    known = {KERNEL_TOKENS[name] for name in kernel_names(kernels)}

    def move(state: tuple, kind: int) -> tuple | None:
        previous, term, operand, left = state
        if operand:
            return _factor(state, kind, scaled) if kind in known else None
        if kind == MULTIPLY:
            return (previous, term, True, left)
        whole = term >= previous and not (term == previous and len(term) == 1 and term[0] in (C, *SINGLE_KERNELS))
        return (term, (), True, left) if whole and kind in (END, ADD) else None

    return grammar(list(range(len(KERNEL_SPELLINGS))), ((), (), True, MOST_VARIABLES), move)


def _factor(state: tuple, kind: int, scaled: bool) -> tuple | None:
    """Returns the state after a kernel; None where it may not come there or needs too many variables."""
    previous, term, _, left = state
    new = (*term, kind)
    left -= variables_of(kind, not term, scaled)
    if left < 0 or not _is_product(new, scaled) or new < previous[: len(new)]:
        return None
    return (previous if new == previous[: len(new)] else (), new, False, left)


def variables_of(kind: int, first: bool, scaled: bool) -> int:
    """Returns how many continuous variables a kernel brings, the first of its term or not."""
    if kind in (C, *SINGLE_KERNELS):
        return 1
    return (2 if kind == PER else 1) + (scaled and first)


def _is_product(term: Term, scaled: bool) -> bool:
    """Returns whether the factors are in order, and none of them is idle beside the others."""
    alone = (C, *SINGLE_KERNELS) if scaled else SINGLE_KERNELS
    return (
        list(term) == sorted(term)
        and (len(term) == 1 or not set(term) & set(alone))
        and term.count(C) <= 1
        and sum(f in DECAYING for f in term) <= 1
        and term.count(PER) <= MOST_PERIODIC
    )


def kernel_names(kernels: str) -> list[str]:
    """Returns the names in a list of kernels; refuses a list of noise, constants and lines alone."""
    names = kernels.replace(",", " ").split()
    for name in names:
        if name not in ALL_KERNELS.split():
            raise Refusal(f"kernels must be some of {ALL_KERNELS.replace(' ', ', ')}, but {name!r} was given.")
    if not set(names) & {"SE", "M12", "M32", "Per"}:
        raise Refusal(f"kernels must include one of SE, M12, M32 and Per, but {kernels!r} was given.")
    return names


def terms_of(tokens: Iterable[int]) -> Terms:
    """Returns the terms of a program, each the tuple of its factors."""
    text = [t for t in tokens if t != END]
    terms: list[list[int]] = [[]]
    for token in text:
        if token == ADD:
            terms.append([])
        elif token != MULTIPLY:
            terms[-1].append(token)
    return tuple(tuple(term) for term in terms)


def flatten(terms: Terms) -> list[int]:
    """Returns the tokens of a sum of products, in the order given."""
    tokens: list[int] = []
    for term in terms:
        tokens += [ADD] * bool(tokens)
        for i, factor in enumerate(term):
            tokens += [MULTIPLY] * bool(i) + [factor]
    return tokens


def canonical(terms: Iterable[Term], scaled: bool = True) -> Terms | None:
    """Returns the one spelling of a sum of products; None where it is not in the language."""
    found: list[Term] = []
    for term in terms:
        simple = _simplify(term, scaled)
        if not simple or not _is_product(simple, scaled):
            return None
        # Two constants, two lines, two walks and two noises are one each.
        if len(simple) > 1 or simple[0] not in (C, *SINGLE_KERNELS) or simple not in found:
            found.append(simple)
    cost = sum(variables_of(f, i == 0, scaled) for term in found for i, f in enumerate(term))
    return tuple(sorted(found)) if found and cost <= MOST_VARIABLES else None


def _simplify(term: Term, scaled: bool) -> Term:
    """Returns the factors in order, without those that change nothing."""
    if WN in term and not {LIN, RW} & set(term):
        return (WN,)
    once = [f for f in (SE, M12) if f in term] + [f for f in term if f not in (SE, M12, C)]
    if C in term and (not scaled or not once):
        once.append(C)
    return tuple(sorted(once))


def encode(terms: Terms, length: int) -> Int[np.ndarray, "t"] | None:
    """Returns the program of a canonical sum, or None where it is too long."""
    tokens = flatten(terms)
    if len(tokens) > length:
        return None
    return np.array(tokens + [END] * (length - len(tokens)), np.int32)


def program(text: str, length: int, scaled: bool = True) -> Int[np.ndarray, "t"]:
    """Returns the tokens of an expression in the paper's notation, brackets included."""
    terms = canonical(parse(text), scaled)
    tokens = None if terms is None else encode(terms, length)
    if tokens is None:
        raise Refusal(f"{text!r} is not an expression of the language of at most {length} tokens.")
    return tokens


def parse(text: str) -> Terms:
    """Reads a bracketed expression and multiplies it out; copies of a factor get variables of their own."""
    words = re.findall(r"[()+*]|\w+", text)
    if "".join(words) != re.sub(r"\s", "", text):
        raise Refusal(f"{text!r} is not a kernel expression.")

    def total() -> Terms:
        terms = product()
        while words and words[0] == "+":
            words.pop(0)
            terms += product()
        return terms

    def product() -> Terms:
        terms = atom()
        while words and words[0] == "*":
            words.pop(0)
            terms = tuple((*a, *b) for b in atom() for a in terms)
        return terms

    def atom() -> Terms:
        word = words.pop(0) if words else ""
        if word == "(":
            inner = total()
            if words and words.pop(0) == ")":
                return inner
        elif word in ALL_KERNELS.split():
            return ((KERNEL_TOKENS[word],),)
        raise Refusal(f"{text!r} is not a kernel expression: a kernel or a bracket is missing.")

    found = total()
    if words:
        raise Refusal(f"{text!r} is not a kernel expression: {words[0]!r} is not expected.")
    return found


def text_of(tokens: Iterable[int]) -> str:
    """Returns an expression as it is printed."""
    return " + ".join("*".join(KERNEL_SPELLINGS[f] for f in term) for term in terms_of(tokens))
