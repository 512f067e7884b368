"""Characters: drawings; the strokes of each and the bank that all share are to be found (section 4.2)."""
