"""Tables and figures of the published experiments, from their results."""
