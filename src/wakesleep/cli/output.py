"""What the commands print: tables on a terminal, JSON for machines."""

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

out = Console()
err = Console(stderr=True)


def plain(text: str) -> str:
    """Returns text from a file with control codes spelled out, so that it cannot steer the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)


def say(text: str) -> None:
    """Prints a line on standard output as it stands."""
    out.print(plain(text), highlight=False, markup=False, soft_wrap=True)


def tell(text: str) -> None:
    """Prints a line for a person on standard error as it stands."""
    err.print(plain(text), highlight=False, markup=False, soft_wrap=True)


def refuse(sentence: str) -> None:
    """Prints a refusal."""
    err.print(f"[red]wakesleep:[/red] {escape(plain(sentence))}", highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Prints a value in a line."""
    print(json.dumps(value))


def show_export(text: str) -> None:
    """Prints text for another tool as it stands; on a terminal, control codes are spelled out."""
    print(plain(text) if out.is_terminal else text)


def show_end(summary: dict[str, Any] | None, as_json: bool) -> None:
    """Prints the end of a training run, told by one of its processes."""
    if summary is None:
        return
    if as_json:
        print_json(summary)
        return
    bound = "no bound" if summary["bound"] is None else f"bound {summary['bound']:.3f} nats"
    say(f"{summary['run']}: step {summary['step']} of {summary['steps']}, {bound}")


def show_rows(rows: list[dict[str, Any]], title: str, as_json: bool) -> None:
    """Prints rows as they are, the names of their fields on top."""
    if as_json:
        print_json(rows)
        return
    words = [tuple(f"{v:.4f}" if isinstance(v, float) else str(v) for v in r.values()) for r in rows]
    show_table(title, tuple(rows[0]), words)


def show_table(title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Prints a table of words; nothing in them is read as markup."""
    out.print(escape(plain(title)), style="italic", highlight=False)  # a title of Rich's is as narrow as its table
    table = Table()
    for column in columns:
        table.add_column(escape(plain(column)), overflow="fold")
    for row in rows:
        table.add_row(*(escape(plain(word)) for word in row))
    out.print(table)
