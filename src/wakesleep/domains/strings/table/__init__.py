"""Whole tables: what each column holds, contracts that new tables are checked against, and their exports."""
