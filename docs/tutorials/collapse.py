# # When MWS collapses, and what to do
#
# In the paper's algorithm recognition learns from the memory alone, and all proposals come from recognition. A memory
# of one program is filled by the first possible proposal. Recognition is then trained to propose that program, and soon
# proposes little else: the memory stops changing while its programs are poor. This is a collapse.

# %%
# ## Three runs that differ in what recognition learns from, and in who proposes
#
# Groups of six points; a program is a clustering of a group. The memory has one slot, and a visit brings one proposal.

import os

import jax
import jax.numpy as jnp
import numpy as np
import optax

import wakesleep
from wakesleep.domains.clusters.data import Settings, build, load, programs

STEPS_OF_LEARNING = int(os.environ.get("TUTORIAL_STEPS", "3000"))
settings = Settings(observations=20, points=6)
data = load(settings).train
RUNS = {
    "the paper's": {"paper": True},
    "the paper's, 30 % of proposals from the prior": {"recognition": "replay", "explore": 0.3},
    "the default": {},
}


def learned(how):
    algorithm = wakesleep.mws(optax.adam(3e-3), memory_size=1, proposals=1, **how)
    state = algorithm.init(build(jax.random.key(0), settings, data), data)
    for state, info in wakesleep.fit(
        algorithm, state, data, key=jax.random.key(1), steps=STEPS_OF_LEARNING, batch_size=20
    ):
        pass
    return state, info


# %%
# ## How to see it
#
# With few programs the exact log p(x) is at hand. After a collapse it is low, and the bound of the memory is far below
# it: the memory holds programs that are not the best ones even under the model that was learned with them. In larger
# domains watch `novel`, the number of proposals that entered an observation's memory at a visit. When it is zero for
# long while a short search from the prior would improve the memory, `fit` warns.

every_program = programs(settings, data)
for name, how in RUNS.items():
    state, info = learned(how)
    exact = float(jnp.mean(wakesleep.exact(state.model, every_program, data)))
    print(f"{name}: exact log p(x) {exact:.2f}, bound {float(info.bound):.2f}, novel {float(info.novel):.4f}")
    assert np.isfinite(exact)

# %%
# ## What to do
#
# 1. Keep the default, which trains recognition on dreams of the model and weighs proposals outside of the memory.
# 2. Give the memory more slots (`--memory-size`), if the cost K = M + R allows.
# 3. Draw a share of the proposals from the prior: `--explore 0.1`.
# 4. Change remembered programs, where the domain knows how: `--revise 0.5`.
# 5. Train recognition before the first step: `--pretrain 1000`.
#
# `wakesleep train DOMAIN --watch 20` and `wakesleep explore RUN` show which of these found the programs that stayed.
