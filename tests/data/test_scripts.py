"""Encodings without a mark: texts of many languages are read back from each encoding that they are usually in."""

import pytest

from wakesleep.data import encodings
from wakesleep.data.scripts import likely_encoding
from wakesleep.data.tables import read_table

TEXTS = {
    "French": ("Ville,Région\nOrléans,Centre\nNîmes,Occitanie\nParis,Île-de-France\n", "cp1252 latin-1 mac_roman"),
    "German": ("Name,Straße\nMüller,Hauptstraße 3\nSchröder,Königsweg 9\n", "cp1252 mac_roman cp850"),
    "one letter": ("name,price\nMüller,3\n" + "Bauer,4\n" * 50, "cp1252 latin-1"),
    "prices": ("item,price\npen,3 €\nbook,12 €\nlamp,“nice”\n", "cp1252"),
    "measures": ("item,size\nrod,5 µm ± 1\noven,200 °C\n", "cp1252"),
    "capitals": ("ÉCOLE,ÎLE\nFORÊT,ÂGE\n", "cp1252"),
    "Danish": ("by,ø\nÆrøskøbing,Ærø\nÅrhus,Jylland\n", "cp1252"),
    "Polish": ("Miasto,Województwo\nŁódź,łódzkie\nKraków,małopolskie\nWrocław,dolnośląskie\n", "cp1250 iso8859-2"),
    "Czech": ("jméno,město\nTomáš Dvořák,Plzeň\nJiří Novák,Třebíč\n", "cp1250"),
    "Russian": ("Город,Область\nМосква,Московская область\nКазань,Татарстан\n", "cp1251 koi8-r cp866 iso8859-5"),
    "Greek": ("Πόλη,Χώρα\nΑθήνα,Ελλάδα\nΘεσσαλονίκη,Ελλάδα\n", "cp1253"),
    "Turkish": ("Şehir,Ülke\nİstanbul,Türkiye\nEskişehir,Türkiye\n", "cp1254"),
    "Hebrew": ("עיר,ארץ\nירושלים,ישראל\nחיפה,ישראל\n", "cp1255"),
    "Arabic": ("مدينة,بلد\nالقاهرة,مصر\nبغداد,العراق\n", "cp1256"),
    "Japanese": ("都市,県\n札幌市,北海道\nさいたま市,埼玉県\nカタカナ,テスト\n", "cp932 euc_jp"),
    "Chinese": ("城市,省份\n北京,北京市\n广州,广东省\n", "gb18030 gbk"),
    "Taiwanese": ("城市,地區\n臺北市,北部\n高雄市,南部\n", "big5"),
    "Korean": ("도시,지역\n서울,수도권\n부산,경상도\n", "cp949 euc_kr"),
}


@pytest.mark.parametrize(
    ("language", "encoding"), [(k, encoding) for k, (_, encodings) in TEXTS.items() for encoding in encodings.split()]
)
def test_a_text_is_read_back_from_its_encoding_and_that_is_said(tmp_path, language, encoding):
    text = TEXTS[language][0]
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    table = read_table(tmp_path / "t.csv", rows="all", header=True)
    rows = [table.names, *(list(row) for row in zip(*(c.values for c in table.columns), strict=True))]
    assert rows == [line.split(",") for line in text.splitlines()]
    assert "since it is not UTF-8" in table.notes[0]


def test_nothing_but_one_accent_is_western():
    assert likely_encoding(b"\xe9") == "cp1252"


def test_a_file_whose_end_is_not_of_its_likely_encoding_is_read_to_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(encodings, "SCAN_BYTES", 100)
    monkeypatch.setattr(encodings, "JUDGED_BYTES", 40)
    start = TEXTS["Japanese"][0].encode("cp932")
    (tmp_path / "t.csv").write_bytes(start + b"x,y\n" * 100 + b"\xe9 ,\n")
    table = read_table(tmp_path / "t.csv", rows="sample")
    assert (table.rows, table.columns[0].values[-1]) == (104, "é ")
    assert "cp932" not in table.notes[0]
