"""Spreadsheets of a few cells, written by hand."""

import zipfile

NAMES = "http://schemas.openxmlformats.org"


def write_xlsx(path, rows, names=None):
    """A workbook of one sheet; a row is a list of cells, or the XML of a `<row>` element."""
    cells = "".join(row if isinstance(row, str) else f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    sheet = f'<worksheet xmlns="{NAMES}/spreadsheetml/2006/main"><sheetData>{cells}</sheetData></worksheet>'
    book = (
        f'<workbook xmlns="{NAMES}/spreadsheetml/2006/main" xmlns:r="{NAMES}/officeDocument/2006/relationships">'
        '<sheets><sheet name="one" sheetId="1" r:id="r1"/></sheets></workbook>'
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_rels/.rels", relation("officeDocument", "xl/workbook.xml"))
        archive.writestr("xl/workbook.xml", book)
        archive.writestr("xl/_rels/workbook.xml.rels", relation("worksheet", "worksheets/sheet1.xml"))
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
        for name, content in (names or {}).items():
            archive.writestr(name, content)
    return path


def cell(value):
    return f"<c><v>{value}</v></c>" if value and not isinstance(value, str) else f'<c t="str"><v>{value}</v></c>'


def relation(kind, target):
    return (
        f'<Relationships xmlns="{NAMES}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{NAMES}/officeDocument/2006/relationships/{kind}" Target="{target}"/></Relationships>'
    )
