"""Strings: columns of short text; a program is a probabilistic regular expression (section 4.3)."""
