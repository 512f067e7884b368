"""The main path of each page in a real browser, by click and by key."""

import json
from pathlib import Path

import pytest

from .browser import Watched, browsing, serious, serving, skip_where_absent, until_said

skip_where_absent()
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two run directories, one of which was watched."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("mws", "rws"):
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps({"domain": "own", "algorithm": name, "steps": 30}))
        looks = [{"step": s, "bound": -20 + s / 3, "novel": 1.0, "explained": 1.0} for s in (10, 20, 30)]
        if name == "mws":
            for s, q in ((10, 0.4), (20, 0.7), (30, 0.9)):
                programs = [{"program": "a+", "q": q, "since": 10, "by": "recognition"},
                            {"program": "a*b", "q": 1 - q, "since": 10, "by": "prior"}]  # fmt: skip
                looks.append({"step": s, "row": 0, "programs": programs})
        (folder / name / "memory.jsonl").write_text("".join(json.dumps(line) + "\n" for line in looks))
    return [folder / "mws", folder / "rws"]


@pytest.fixture(scope="module")
def base(runs):
    with serving(runs) as address:
        yield address.rsplit("/", 2)[0]


@pytest.fixture(scope="module")
def browser():
    with browsing() as found:
        yield found


def test_a_column_is_explained_judged_and_corrected(browser, base):
    watched = Watched(browser)
    page = watched.open(f"{base}/column/")
    page.wait_for_selector("#found table")
    page.get_by_label("Type a value: does it fit?").press_sequentially("ORD-10300")
    page.wait_for_selector("#verdict .good")
    page.get_by_label("Type a value: does it fit?").fill("ORD-x")
    page.wait_for_selector("#verdict .bad")
    assert page.locator("#found td.mono .part").count() > 10
    page.get_by_role("button", name="not this one: ORD-1O261").press("Enter")
    page.wait_for_selector("#rejected input:checked")
    assert page.locator("#found thead th", has_text="before").count() == 1
    assert "^ORD-[0-9]{5}$" in page.inner_text("#found")
    page.locator("#generality").press("ArrowRight")
    page.locator("#found:not(.busy)").wait_for()
    assert serious(page) == []
    watched.check(base)


def test_a_typed_line_is_explained_without_a_click(browser, base):
    watched = Watched(browser)
    page = watched.open(f"{base}/column/")
    page.wait_for_selector("#found table")
    page.locator("#values").fill("x1\nx2\nx3\nx4\nx5\nx6")
    page.locator("#found", has_text="^x[").wait_for()
    page.locator("#values").fill(" ")
    page.wait_for_selector("#found .refusal")
    watched.errors = [e for e in watched.errors if "422" not in e]  # Chromium notes every status above 399
    watched.check(base)


def test_of_quick_keys_the_last_is_judged(browser, base):
    watched = Watched(browser)
    page = watched.open(f"{base}/column/")
    page.wait_for_selector("#found table")
    page.evaluate("""() => {
      const value = document.getElementById("value");
      for (let i = 0; i < 40; i++) {
        value.value = `ORD-${i}`;
        value.dispatchEvent(new Event("input", { bubbles: true }));
      }
    }""")
    page.locator("#verdict", has_text="ORD-39").wait_for()
    page.wait_for_timeout(300)
    assert "ORD-39" in page.inner_text("#verdict")
    assert page.inner_text("#status") == ""
    watched.check(base)


def test_a_table_streams_its_columns_and_opens_one(browser, base):
    watched = Watched(browser, 400, "dark")
    page = watched.open(f"{base}/table/")
    page.set_input_files("#file", EXAMPLES / "orders.csv")
    page.wait_for_selector("#downloads:not([hidden])")
    assert page.locator("#rows tr").count() == 10
    assert "Done: 10 of 10 columns" in page.inner_text("#status")
    assert serious(page) == []
    with page.expect_download() as download:
        page.get_by_text("report as one HTML file").click()
    assert download.value.suggested_filename == "report.html"
    page.get_by_role("link", name="phone").click()
    page.wait_for_selector("#found table")
    assert "555-" in page.inner_text("#found")
    watched.check(base)


def test_a_table_that_is_none_gives_one_sentence(browser, base, tmp_path):
    watched = Watched(browser)
    (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04 no sheet")
    page = watched.open(f"{base}/table/")
    page.set_input_files("#file", tmp_path / "bad.xlsx")
    page.wait_for_selector("#status.refusal")
    assert len(page.inner_text("#status")) > 10
    watched.check(base)


def test_a_file_of_200_mb_gives_one_sentence(browser, base, tmp_path):
    watched = Watched(browser)
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(200 << 20)
    page = watched.open(f"{base}/table/")
    page.set_input_files("#file", tmp_path / "large.csv")
    until_said(page, "large.csv is larger than 64 MB")
    watched.check(base)


def test_points_are_moved_by_mouse_and_by_key(browser, base):
    watched = Watched(browser)
    page = watched.open(f"{base}/points/")
    page.wait_for_selector("#best svg")
    before = page.inner_text("#clusterings")
    point = page.get_by_role("button", name="point 1 at")
    box = point.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 150, steps=4)
    page.mouse.up()
    moved = page.inner_text("#clusterings")
    assert moved != before
    point.press("ArrowLeft")
    assert page.inner_text("#clusterings") != moved
    page.get_by_role("button", name="Add a point").click()
    assert "4,140 clusterings" in page.inner_text("#status")
    assert "#" in page.url
    assert serious(page) == []
    watched.check(base)


def test_an_automaton_is_clicked_painted_and_typed(browser, base):
    watched = Watched(browser, scheme="dark")
    page = watched.open(f"{base}/automaton/")
    page.wait_for_selector("#rules tr")
    assert "Rule 110" in page.inner_text("#status")
    page.get_by_role("button", name="111 → 0").press("Space")
    assert "Rule 238" in page.inner_text("#status")
    before = page.inner_text("#evidence")
    page.locator("#cells").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    assert page.inner_text("#evidence") != before
    before = page.inner_text("#evidence")
    box = page.locator("#cells").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 340, box["y"] + 180, steps=5)
    page.mouse.up()
    assert page.inner_text("#evidence") != before
    assert serious(page) == []
    watched.check(base)


def test_a_memory_is_stepped_through(browser, base):
    watched = Watched(browser)
    page = watched.open(f"{base}/memory/")
    page.wait_for_selector("#programs tr")
    assert "90.0 %" in page.inner_text("#programs")
    page.locator("#step").press("Home")
    assert "40.0 %" in page.inner_text("#programs")
    assert page.locator("#bounds canvas").count() == 1
    page.locator("#run").select_option("1")
    until_said(page, "keeps no memory")
    assert serious(page) == []
    watched.check(base)


def test_a_series_is_taken_apart_and_continued(browser, base):
    watched = Watched(browser)
    page = watched.open(f"{base}/series/")
    page.locator("#values").fill("\n".join(str(10 + t + 5 * (t % 4 == 1)) for t in range(40)))
    page.locator("#season").fill("4")
    page.get_by_role("button", name="Explain").press("Enter")
    until_said(page, "the series: explained in")
    assert page.locator("#sentences li").count() > 0
    assert page.locator("#chart canvas").count() == 1
    page.locator("#horizon").fill("7")
    page.locator("#ahead tr:nth-child(7)").wait_for()
    page.locator("#ahead tr:nth-child(8)").wait_for(state="detached")
    assert page.inner_text("#share").startswith("The fit explains")
    page.locator("#parts input").first.press("Space")
    assert not page.locator("#parts input").first.is_checked()
    assert page.inner_text("#share").startswith("Without trend, the fit")
    page.get_by_role("button", name="Explain").click()
    until_said(page, "the series: explained in")
    assert not page.locator("#parts input").first.is_checked()
    page.locator("#values").fill("1\ntwo")
    page.get_by_role("button", name="Explain").click()
    page.locator("#status.refusal").wait_for()
    assert serious(page) == []
    watched.errors = [e for e in watched.errors if "422" not in e]  # Chromium notes every status above 399
    watched.check(base)


def test_a_long_series_streams_and_says_where_it_was_stopped(browser, base):
    watched = Watched(browser)
    page = watched.open(f"{base}/series/")
    until_said(page, "explained in")
    values = "\n".join(str(100 + t % 24 + 50 * (t == 1000)) for t in range(3_000))
    page.locator("#values").evaluate("(element, text) => { element.value = text; }", values)  # typing it takes seconds
    page.locator("#season").fill("24")
    page.get_by_role("button", name="Explain").click()
    until_said(page, "a first look at the latest 300 of 3,000 values")
    page.get_by_role("button", name="Stop").click()
    until_said(page, "Stopped: what is shown is")
    assert page.locator("#sentences li").count() > 0
    watched.check(base)


def test_a_series_is_drawn_by_mouse(browser, base):
    watched = Watched(browser, 400)
    page = watched.open(f"{base}/series/")
    until_said(page, "explained in")
    page.locator("#drawn").scroll_into_view_if_needed()
    box = page.locator("#drawn").bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 90)
    page.mouse.down()
    for step in range(1, 11):
        page.mouse.move(box["x"] + 2 + 30 * step, box["y"] + 90 - 7 * step + 6 * (step % 2))
    page.mouse.up()
    until_said(page, "the series: explained in")
    watched.check(base)


def test_a_drawing_is_explained_replayed_and_drawn_again(browser, base):
    pytest.importorskip("jax", reason="drawings are explained with the extra train")
    watched = Watched(browser)
    page = watched.open(f"{base}/drawing/")
    box = page.locator("#paper").bounding_box()
    for stroke in (((60, 60), (220, 60)), ((140, 60), (140, 230))):
        page.mouse.move(*(box[side] + at for side, at in zip("xy", stroke[0], strict=True)))
        page.mouse.down()
        page.mouse.move(*(box[side] + at for side, at in zip("xy", stroke[1], strict=True)), steps=5)
        page.mouse.up()
    page.locator("#programs tr").first.wait_for()
    assert "line" in page.inner_text("#programs")
    page.locator("#stroke").press("Home")
    assert "100 % of the ink remains" in page.inner_text("#remaining")
    page.locator("#stroke").press("End")
    assert " 0 % of the ink remains" in f" {page.inner_text('#remaining')}"
    for name, what in (("More like this", "further example 8"), ("New characters", "new character 8")):
        page.get_by_role("button", name=name).press("Enter")
        page.get_by_alt_text(what).wait_for()
    page.get_by_label("in the style of").select_option("Hebrew")
    page.get_by_alt_text("new character in the style of Hebrew, 8").wait_for()
    assert serious(page) == []
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("button", name="Explain").click()
    page.locator("#status.refusal", has_text="There is no drawing yet").wait_for()
    watched.check(base)


def test_new_characters_take_the_style_of_ones_own_drawings(browser, base):
    pytest.importorskip("jax", reason="drawings are explained with the extra train")
    watched = Watched(browser, 400)
    page = watched.open(f"{base}/drawing/")
    own = page.locator("#own")
    for number in (1, 2, 3):
        assert own.is_disabled()
        box = page.locator("#paper").bounding_box()
        page.mouse.move(box["x"] + 60 * number, box["y"] + 60)
        page.mouse.down()
        page.mouse.move(box["x"] + 140, box["y"] + 60 * number + 40, steps=5)
        page.mouse.up()
        page.locator("#own", has_text=f"your drawings ({number}").wait_for(state="attached")
        page.get_by_role("button", name="Clear").click()
    page.get_by_label("in the style of").select_option("own")
    page.get_by_alt_text("new character in the style of your drawings (3), 8").wait_for()
    watched.check(base)


@pytest.mark.parametrize("page", ["", "column/", "table/", "series/", "drawing/", "points/", "automaton/", "memory/"])
@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1400, "light")])
def test_every_page_fits_its_window_and_has_no_serious_violation(browser, base, page, width, scheme):
    watched = Watched(browser, width, scheme)
    opened = watched.open(f"{base}/{page}")
    opened.wait_for_load_state("networkidle")
    wide = opened.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    assert serious(opened) == []
    watched.page.context.close()


@pytest.mark.parametrize("page", ["", "column/", "table/", "series/", "drawing/", "points/", "automaton/", "memory/"])
def test_every_control_is_reached_by_the_tab_key_and_shows_it(browser, base, page):
    watched = Watched(browser)
    opened = watched.open(f"{base}/{page}")
    opened.wait_for_load_state("networkidle")
    controls = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
      .filter((e) => !e.disabled && e.type !== "hidden" && e.checkVisibility())"""
    wanted = opened.evaluate(f"{controls}.map((e, i) => (e.dataset.control = String(i))).length")
    seen = {}
    for _ in range(wanted + 1):
        opened.keyboard.press("Tab")
        at, ring = opened.evaluate(
            "[document.activeElement.dataset.control, getComputedStyle(document.activeElement).outlineStyle]"
        )
        seen[at] = ring
    assert {str(i) for i in range(wanted)} <= set(seen)
    assert {ring for at, ring in seen.items() if at is not None} <= {"solid", "auto"}
    watched.page.context.close()


def test_two_tabs_and_a_closed_one_leave_the_server_well(browser, base):
    for _ in range(3):
        gone = Watched(browser)
        gone.open(f"{base}/table/").set_input_files("#file", EXAMPLES / "orders.csv")
        gone.page.context.close()
    both = [Watched(browser), Watched(browser)]
    for watched in both:
        watched.open(f"{base}/column/").wait_for_selector("#found table")
    for watched in both:
        watched.check(base)
