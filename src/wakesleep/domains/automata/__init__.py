"""Automata: images grown by a noisy rule; the rule of each image and the noise of all are to be found (section 4.4)."""
