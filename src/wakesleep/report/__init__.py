"""Results and run directories turned into tables and figures."""
