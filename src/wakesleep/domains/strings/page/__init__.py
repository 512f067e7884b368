"""The pages of text: one column, and a table of them."""

from wakesleep.domains.strings.page.column import COLUMN_PAGE
from wakesleep.domains.strings.page.table import TABLE_PAGE

PAGES = (COLUMN_PAGE, TABLE_PAGE)
