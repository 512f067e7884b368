"""Kernel expressions of a series, searched with the learned model: the appendix's language, extended."""
