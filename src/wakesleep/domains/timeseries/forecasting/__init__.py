"""Forecasts of series: the commands' answers, scores of the past, and the conventions of other libraries."""
