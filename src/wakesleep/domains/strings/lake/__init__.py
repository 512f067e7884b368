"""All tables below a folder, described column by column in one catalogue that can be asked."""
