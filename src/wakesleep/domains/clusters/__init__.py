"""Clusters: a nonparametric Gaussian mixture in which everything can be checked exactly (section 4.1)."""
