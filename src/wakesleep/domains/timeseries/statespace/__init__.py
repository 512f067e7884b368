"""State-space programs of series: atoms, their exact likelihood, and the library that a series is explained with."""
