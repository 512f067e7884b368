"""The command line: words in, rows out."""
