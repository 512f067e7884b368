"""The explorer: a local server of pages that show programs being found."""
