"""The paper's tables: settings and the paper's numbers, one file for each."""
