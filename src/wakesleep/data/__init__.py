"""Files to plain tables, images and arrays; no domain is known here."""
