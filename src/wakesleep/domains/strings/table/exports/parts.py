"""What exports share: the pattern of a rule with its nulls, and what a tool is not told."""

import re

from wakesleep.domains.strings.columns.characters import escape
from wakesleep.domains.strings.table.backtracking import is_slow
from wakesleep.domains.strings.table.contract import Contract
from wakesleep.domains.strings.table.rules import INTEGER, NUMBER_REGEX, Rule, date_pattern
from wakesleep.domains.strings.table.verdict import visible

ENDINGS_OF_TABLES = re.compile(r"(?:\.(?:csv|tsv|tab|parquet|pq|jsonl|ndjson|xls[xmb]?|ods|gz|zip))+$", re.IGNORECASE)
"""Ends of the names of files that are tables."""


def main_pattern(rule: Rule) -> str:
    """Returns the pattern of the values of a rule, nulls aside; empty where any text is allowed."""
    if rule.listed is not None:
        return "|".join(escape(v) for v in rule.listed) if rule.listed else r"[^\s\S]"
    if rule.numeric:
        return INTEGER if rule.type == "integer" else NUMBER_REGEX
    if rule.form:
        return date_pattern(rule.form)
    return rule.pattern


def text_pattern(rule: Rule) -> str:
    """Returns the pattern of the values as texts: an empty text and the marks of missing values where some may be."""
    main = main_pattern(rule)
    if not main:
        return r"[\s\S]*" if rule.nulls else r"[\s\S]+"
    return "|".join([f"(?:{main})", *(["", *map(escape, rule.missing)] if rule.nulls else [])])


def listed(rule: Rule) -> list[str] | None:
    """Returns the values of an enumeration, with the texts that stand for nulls; None where there is none."""
    if rule.listed is None:
        return None
    return [*rule.listed, *(["", *rule.missing] if rule.nulls else [])]


def truths(rule: Rule) -> list[bool]:
    """Returns the truth values that a boolean's texts stand for, where a tool knows such values."""
    spelled = {v.lower() for v in rule.listed or ()} if rule.type == "boolean" else set()
    return [truth for truth in (False, True) if str(truth).lower() in spelled]


def unsaid(rule: Rule, *known: str) -> list[str]:
    """Returns what a rule asks for beyond its pattern, but for the parts that the tool knows."""
    found = {
        "range": f"the range ({rule.expected})" if rule.low is not None or rule.high is not None else "",
        "longest": f"at most {rule.longest:,} characters" if rule.longest is not None else "",
        "unique": "that values are unique" if rule.unique else "",
        "nulls": f"at most {rule.nulls:.0%} of nulls" if 0 < rule.nulls < 1 else "",
        "tolerate": f"that {rule.tolerate:.2%} of the rows are tolerated" if rule.tolerate else "",
        "calendar": f"days that a month does not have, or a wrong weekday ({rule.form})" if rule.form else "",
        "digits": f"check digits ({rule.check_digits})" if rule.check_digits else "",
    }
    return [said for part, said in found.items() if said and part not in known]


def note(rule: Rule, *known: str) -> str:
    """Returns a sentence on what is not checked, or nothing."""
    left = unsaid(rule, *known)
    return one_line(f"Not checked here: {'; '.join(left)}.") if left else ""


SLOW = "Slow here for long values, which are read in many ways: bound their length first."


def note_backtracking(rule: Rule, *known: str) -> str:
    """Returns the note for a tool whose regexes backtrack: also whether this one may take long."""
    slow = rule.one_of is None and not rule.numeric and is_slow(text_pattern(rule))
    return " ".join(filter(None, (note(rule, *known), SLOW * slow)))


def table_name(contract: Contract) -> str:
    """Returns the name of the table: that of its file, without what its kind is told by."""
    return ENDINGS_OF_TABLES.sub("", contract.table) or "table"


def one_line(text: str) -> str:
    """Returns a text that cannot leave the comment that it stands in."""
    return visible(" ".join(text.split()))


def about(contract: Contract) -> str:
    """Returns where an export comes from, and how the full judgement differs."""
    differs = "" if contract.differs is None else f" (at {contract.differs:.2%} of the values it was drafted from)"
    source = f" for {contract.table}" if contract.table else ""
    return one_line(
        f"From a wakesleep contract{source}. The verdicts are those of `matches`; `accepts`, the full judgement of an "
        f"explanation, differs where it knows the column better than a pattern can say{differs}."
    )
