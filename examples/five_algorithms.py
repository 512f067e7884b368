"""The same domain trained with all five algorithms. Run it: python examples/five_algorithms.py"""

import jax
import numpy as np
import optax
from new_domain import Settings, load, make_model

from wakesleep import fit, mws, rws, vimco


def main(steps=3000, observations=100):
    """Trains with all five algorithms on the same data and returns the noise each one found."""
    data, adam, found = load(Settings(observations)).train, optax.adam(3e-3), {}
    algorithms = {
        "MWS": mws(adam, memory_size=3, proposals=3, paper=True),
        "MWS-fantasy": mws(adam, memory_size=3, proposals=3, recognition="fantasy", tail=False),
        "RWS": rws(adam, particles=6),
        "RWS-sleep": rws(adam, particles=6, recognition="sleep"),
        "VIMCO": vimco(adam, particles=6),
    }
    for name, algorithm in algorithms.items():
        state = algorithm.init(make_model(jax.random.key(2), data, 2.0), data)
        for state, info in fit(algorithm, state, data, key=jax.random.key(3), steps=steps, batch_size=20):
            pass
        found[name] = float(np.exp(state.model.evaluator.log_noise))
        print(f"{name:12} noise {found[name]:.2f} (true: 0.50)   bound {float(info.bound):7.2f}")
    return found


if __name__ == "__main__":
    main()
