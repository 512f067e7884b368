"""Time series: a program is a kernel expression of a Gaussian process (the paper's appendix)."""
