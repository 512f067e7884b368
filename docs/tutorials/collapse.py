# # When MWS collapses, and what to do
#
# A memory of one program is filled by the first possible proposal. Recognition is then trained to propose it, and
# little else is ever proposed: the memory stops changing while its programs are poor. More slots, proposals from the
# prior and changes of remembered programs each help.

# %%
# ## Two runs that differ in where proposals come from
#
# Groups of four points, in batches of all. `explore=0.0` draws every proposal from recognition, as the paper does; the
# default explores a little where a memory has one slot.

import os

import jax
import jax.numpy as jnp
import numpy as np
import optax

import wakesleep
from wakesleep.domains.clusters.data import Settings, build, load, programs

STEPS_OF_LEARNING = int(os.environ.get("TUTORIAL_STEPS", "3000"))
settings = Settings(observations=20, points=4)
data = load(settings).train


def learned(explore):
    algorithm = wakesleep.mws(optax.adam(3e-3), memory_size=1, proposals=1, explore=explore)
    state = algorithm.init(build(jax.random.key(0), settings, data), data)
    every = max(1, STEPS_OF_LEARNING // 5)
    for state, info in wakesleep.fit(
        algorithm, state, data, key=jax.random.key(1), steps=STEPS_OF_LEARNING, batch_size=20, every=every
    ):
        novel = float(info.novel)
    return state, novel


# %%
# ## How to see it
#
# `novel` is how many proposals entered an observation's memory at a visit. Near zero while the bound is far from the
# exact log p(x) is a collapse. With few programs the exact value is at hand.

every_program = programs(settings, data)
for explore in (0.0, 0.3):
    state, novel = learned(explore)
    exact = float(jnp.mean(wakesleep.exact(state.model, every_program, data)))
    print(f"explore {explore}: {novel:.3f} new programs a visit, exact log p(x) {exact:.2f}")
    assert np.isfinite(exact)

# %%
# ## What to do
#
# 1. Give the memory more slots (`--memory-size`), if the cost K = M + R allows.
# 2. Draw a share of the proposals from the prior: `--explore 0.1`.
# 3. Change remembered programs, where the domain knows how: `--revise 0.5`.
# 4. Train recognition on dreams too: `--algorithm mws-both`, or some `--pretrain` steps first.
#
# `wakesleep train DOMAIN --watch 20` and `wakesleep explore RUN` show which of these found the programs that stayed.
