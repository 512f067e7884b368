"""Drawings by a hand: arcs with free ends and bends, found on the image's skeleton, in NumPy alone."""
