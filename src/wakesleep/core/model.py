"""The contract: a model is three conditional distributions, each written for one example.

| part          | draws               | scores              | learns |
| ------------- | ------------------- | ------------------- | ------ |
| `prior`       | `sample(key, c)`    | `log_prob(z, c)`    | theta  |
| `evaluator`   | `sample(key, z)`    | `log_prob(x, z)`    | phi    |
| `recognition` | `sample(key, h)`    | `log_prob(z, h)`    | psi    |

`z` is a program, `x` an observation, `c` whatever the domain conditions on (nothing by default), and
`h = recognition.encode(x, c)` what recognition sees of them (`x` by default). Every inexact array
of a part is one of its parameters. Batch and particle axes are added by the core, with `vmap`.

A program is a pytree of fixed shape. Its integer leaves are the program: two programs with equal
integer leaves are twins. Its float leaves, if any, are carried: quantities fitted for that program,
which `Evaluator.refine` improves and the memory keeps. Prior and recognition score the integer leaves alone.
Float leaves may instead be random variables (`Recognition.fill`): then `evaluator.log_prob(x, z)` is
log p(x, floats | integers), `prior.sample` draws them too, and `hmws` integrates them out.

A pair that cannot occur scores minus infinity, with a zero gradient there and never NaN.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PyTree

from wakesleep.core.keys import fused

Program = PyTree[Array]
Scalar = Float[Array, ""]
Tree = TypeVar("Tree")
FILLING = 4
"""Folded into the key of proposals for their float leaves, so that the tokens drawn are the same with and without."""


class Prior(eqx.Module):
    """p(z | c): a distribution over programs."""

    @abstractmethod
    def sample(self, key: Key[Array, ""], c: Any) -> Program:
        """A program."""

    @abstractmethod
    def log_prob(self, z: Program, c: Any) -> Scalar:
        """log p(z | c)."""

    def thinned(self, key: Key[Array, ""]) -> "Prior":
        """The prior whose gradient trains this one, such as one with some of its units left out; by default itself.

        Its value is never used: programs are ranked and weighted by the whole prior.
        """
        return self

    def canonical(self, z: Program) -> Program:
        """The one spelling under which a memory keeps z and all programs that mean the same (`p+p` and `2*p`).

        It must not change what the evaluator computes, must be its own canonical form, and must be possible where z
        is. Each program enters a memory in this form, so a row holds no two spellings of one meaning. The memory's
        sum stays a lower bound on p(x): it counts the probability of the canonical spelling alone and leaves out that
        of the others. Importance sampling and dreams use programs as they were drawn, so their estimates are of the
        whole p(x).
        """
        return z


class Evaluator(eqx.Module):
    """p(x | z): what a program produces."""

    @abstractmethod
    def sample(self, key: Key[Array, ""], z: Program) -> Any:
        """An observation, of the same structure as those learned from."""

    @abstractmethod
    def log_prob(self, x: Any, z: Program) -> Scalar:
        """log p(x | z)."""

    def refine(self, z: Program, x: Any) -> Program:
        """The same program with its carried quantities fitted further to x; its integer leaves stay as they are.

        Where programs carry quantities, `log_prob(x, z)` has to be a lower bound on log p(x | integer leaves), such
        as a variational bound, for any value that they take; a likelihood at the best fit is not one.
        """
        return z


class Recognition(eqx.Module):
    """r(z | x): proposes programs for an observation."""

    def encode(self, x: Any, c: Any) -> Any:
        """What `sample` and `log_prob` need of x and c; computed once for all proposals and the loss."""
        return x

    @abstractmethod
    def sample(self, key: Key[Array, ""], h: Any) -> Program:
        """A proposal."""

    @abstractmethod
    def log_prob(self, z: Program, h: Any) -> Scalar:
        """log r(z | x)."""

    def fill(self, key: Key[Array, ""], z: Program, h: Any) -> Program:
        """The program with its float leaves drawn from r(floats | integers, x); by default as it is."""
        return z

    def log_fill(self, z: Program, h: Any) -> Scalar:
        """log r(floats | integers, x) of what `fill` drew; zero where nothing is drawn."""
        return jnp.zeros(())

    def revise(self, key: Key[Array, ""], z: Program, h: Any) -> Program:
        """A program near z; where a domain has no notion of nearness, any proposal."""
        return self.sample(key, h)

    def varied(self, key: Key[Array, ""], x: Any) -> Any:
        """An observation near x that the same programs explain; by default x itself.

        Recognition is trained on it in place of x, with remembered and dreamt programs. Nothing else sees it.
        """
        return x


class Model(eqx.Module):
    """The three parts; a part sees only its own parameters."""

    prior: Prior
    evaluator: Evaluator
    recognition: Recognition

    def log_joint(self, z: Program, x: Any, c: Any = None) -> Scalar:
        """log p(z, x | c)."""
        return self.prior.log_prob(z, c) + self.evaluator.log_prob(x, z)


class Observations(eqx.Module):
    """What is learned from: the leaves of x, and of c where there is one, have a leading axis n."""

    x: Any
    c: Any = None

    def __getitem__(self, rows: Any) -> "Observations":
        return jax.tree.map(lambda a: a[rows], self)

    def __len__(self) -> int:
        return int(jax.tree.leaves(self)[0].shape[0])


class Batch(NamedTuple):
    """Some observations and the rows, all different, at which their memories are kept."""

    rows: Int[Array, "b"]
    x: Any
    c: Any = None


def frozen(tree: Tree) -> Tree:
    """The same tree, through which no gradient flows."""
    return jax.tree.map(lambda a: jax.lax.stop_gradient(a) if eqx.is_array(a) else a, tree)


def over_programs(one: Callable, several: Any, *shared: Any) -> Any:
    """`one` for the k programs of each observation of a batch: `several` is [b, k, ...], `shared` [b, ...].

    Within, the axis of programs comes before that of the batch: the last axis is then long, which a
    CPU's vector units need.
    """
    return jax.vmap(jax.vmap(one), (1, *(None for _ in shared)), 1)(several, *shared)


def propose(recognition: Recognition, key: Key[Array, ""], h: Any, count: int) -> Program:
    """`count` proposals for each encoded observation of a batch: leaves [b, count, ...]."""
    b = jax.tree.leaves(h)[0].shape[0]
    keys = jax.random.split(fused(key), (b, count))
    z = over_programs(recognition.sample, keys, h)
    return fill(recognition, jax.random.fold_in(key, FILLING), z, h) if fills(recognition) else z


def fills(recognition: Recognition) -> bool:
    """Whether the float leaves of programs are random variables, which recognition draws."""
    return type(recognition).fill is not Recognition.fill


def fill(recognition: Recognition, key: Key[Array, ""], z: Program, h: Any) -> Program:
    """The k programs of each encoded observation of a batch with their float leaves drawn anew."""
    keys = jax.random.split(fused(key), jax.tree.leaves(z)[0].shape[:2])
    return over_programs(lambda given, h: recognition.fill(given[0], given[1], h), (keys, z), h)


def score(model: Model, z: Program, x: Any, c: Any, key: Key[Array, ""] | None = None) -> Float[Array, "b k"]:
    """log p(z, x | c) for the k programs of each observation of a batch.

    With a `key` its gradient is that of a thinned prior, the same for all programs of an observation.
    """
    if key is None or type(model.prior).thinned is Prior.thinned:
        return over_programs(model.log_joint, z, x, c)
    keys = jax.random.split(fused(key), jax.tree.leaves(z)[0].shape[0])
    return over_programs(partial(_thinned_joint, model), z, x, c, keys)


def _thinned_joint(model: Model, z: Program, x: Any, c: Any, key: Key[Array, ""]) -> Scalar:
    """log p(z, x | c) with the gradient of the thinned prior."""
    value = jax.lax.stop_gradient(model.prior.log_prob(z, c))
    thin = model.prior.thinned(key).log_prob(z, c)
    possible = ~jnp.isneginf(value)
    through = jnp.where(possible, thin, 0.0)
    log_prior = jnp.where(possible, value + through - jax.lax.stop_gradient(through), -jnp.inf)
    return log_prior + model.evaluator.log_prob(x, z)


def recognise(recognition: Recognition, z: Program, h: Any) -> Float[Array, "b k"]:
    """log r(z | x) for the k programs of each encoded observation of a batch, float leaves that it draws included."""
    if not fills(recognition):
        return over_programs(recognition.log_prob, z, h)
    return over_programs(lambda z, h: recognition.log_prob(z, h) + recognition.log_fill(z, h), z, h)


def vary(recognition: Recognition, key: Key[Array, ""], x: Any) -> Any:
    """The observations of a batch as recognition is trained on them."""
    if type(recognition).varied is Recognition.varied:
        return x
    keys = jax.random.split(fused(key), jax.tree.leaves(x)[0].shape[0])
    return frozen(jax.vmap(recognition.varied)(keys, x))


def refine(evaluator: Evaluator, z: Program, x: Any) -> Program:
    """The k programs of each observation of a batch with their carried quantities refined."""
    return over_programs(evaluator.refine, z, x)


def canonical(prior: Prior, z: Program) -> Program:
    """The k programs of each observation of a batch in their canonical forms."""
    return over_programs(prior.canonical, z)


def dream(model: Model, key: Key[Array, ""], c: Any, count: int) -> tuple[Program, Any]:
    """`count` pairs (z, x) drawn from p, one for each leading entry of c: the paper's fantasies."""
    key_z, key_x = jax.random.split(fused(key))
    z = jax.vmap(model.prior.sample)(jax.random.split(key_z, count), c)
    x = jax.vmap(model.evaluator.sample)(jax.random.split(key_x, count), z)
    return frozen((z, x))


def carries(z: Program) -> bool:
    """Whether programs carry quantities beside the tokens that tell them apart."""
    return any(jnp.issubdtype(leaf.dtype, jnp.inexact) for leaf in jax.tree.leaves(z))


def same_program(a: Program, b: Program) -> Array:
    """Whether two programs are twins: all their integer leaves agree."""
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    agree = [jnp.all(u == v) for u, v in pairs if not jnp.issubdtype(u.dtype, jnp.inexact)]
    return jnp.all(jnp.stack(agree)) if len(agree) > 1 else agree[0]
