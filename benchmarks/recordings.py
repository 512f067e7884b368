"""Records the pages of the explorer as GIFs for the documents: the browser is driven, and each step is a frame.

    python benchmarks/recordings.py [NAME ...]      # writes docs/explore/NAME.gif, of NAME-dark in dark colours

Needs the extras `explore`, `browser` and `train`, and Chromium. The page of memories shows three short runs on points,
which are trained first, in a temporary folder.
"""

import io
import math
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from PIL import Image, ImageDraw
from playwright.sync_api import Page, sync_playwright

from wakesleep.serve import server

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "explore"
WIDTH, HEIGHT, SHOWN_WIDTH, COLOURS = 1000, 640, 720, 200
FRAME_MILLISECONDS, LAST_MILLISECONDS = 350, 2500
EDGE_COLOUR = (128, 136, 150)
DARK = "-dark"


def column(page: Page, base: str) -> Iterator[None]:
    page.goto(f"{base}/column/")
    page.wait_for_selector("#found table")
    yield
    for end in ("O", "OR", "ORD", "ORD-", "ORD-1", "ORD-10", "ORD-103", "ORD-1030", "ORD-10300"):
        page.locator("#value").fill(end)
        page.locator("#verdict", has_text=end).wait_for()
        yield
    page.get_by_role("button", name="not this one: ORD-1O261").click()
    page.locator("#rejected input").wait_for()
    page.evaluate("scrollTo(0, 0)")
    yield
    yield


def table(page: Page, base: str) -> Iterator[None]:
    page.goto(f"{base}/table/")
    yield
    page.set_input_files("#file", ROOT / "examples" / "orders.csv")
    for row in range(1, 11):
        page.locator(f"#rows tr:nth-child({row})").wait_for()
        yield
    page.locator("#downloads:not([hidden])").wait_for()
    yield


def series(page: Page, base: str) -> Iterator[None]:
    page.goto(f"{base}/series/")
    page.locator("#status", has_text="explained in").wait_for()
    yield
    page.mouse.move(500, 300)
    page.mouse.wheel(0, 240)
    page.wait_for_timeout(300)
    yield
    page.locator("#parts input").nth(1).click()
    yield
    yield
    page.locator("#parts input").nth(1).click()
    yield
    for ahead in (36, 48, 60, 72):
        page.locator("#horizon").fill(str(ahead))
        page.locator(f"#ahead tr:nth-child({ahead})").wait_for()
        yield
    box = page.locator("#drawn").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2, box["y"] + 90)
    page.mouse.down()
    for step in range(1, 40):
        height = 85 - 1.2 * step + 18 * math.sin(step / 2.2) - 25 * (step > 24)
        page.mouse.move(box["x"] + 2 + 8 * step, box["y"] + height)
        if step % 5 == 0:
            yield
    page.mouse.up()
    page.locator("#status", has_text="the series: explained in").wait_for()
    yield
    yield


def drawing(page: Page, base: str) -> Iterator[None]:
    page.goto(f"{base}/drawing/")
    page.set_input_files("#file", ROOT / "examples" / "omniglot.png")
    page.locator("#programs tr").first.wait_for(timeout=120_000)
    for at in range(int(page.locator("#stroke").get_attribute("max") or 0) + 1):
        page.locator("#stroke").fill(str(at))
        yield
    yield
    page.get_by_role("button", name="More like this").click()
    page.get_by_alt_text("further example 8").wait_for()
    page.locator("#like").evaluate("button => button.scrollIntoView()")
    page.wait_for_timeout(300)
    yield
    yield
    for alphabet in ("Hebrew", "Tibetan", "Greek"):
        page.get_by_label("in the style of").select_option(alphabet)
        page.get_by_alt_text(f"new character in the style of {alphabet}, 8").wait_for()
        for _ in range(3):
            yield


def points(page: Page, base: str) -> Iterator[None]:
    page.goto(f"{base}/points/")
    page.wait_for_selector("#best svg")
    yield
    box = page.get_by_role("button", name="point 7 at").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.mouse.down()
    for step in range(1, 13):
        page.mouse.move(box["x"] + 8 + 4.5 * step, box["y"] + 8 - 6 * step)
        yield
    page.mouse.up()
    yield


def automaton(page: Page, base: str) -> Iterator[None]:
    page.goto(f"{base}/automaton/#rule=110")
    page.wait_for_selector("#rules tr")
    yield
    page.locator("#columns").fill("3")
    yield
    for _ in range(8):
        page.get_by_role("button", name="Flip ten cells").click()
        yield
    page.get_by_role("button", name="Grow anew").click()
    page.locator("#columns").fill("24")
    yield


def memory(page: Page, base: str) -> Iterator[None]:
    page.goto(f"{base}/memory/")
    page.wait_for_selector("#programs tr")
    yield
    page.locator("#run").scroll_into_view_if_needed()
    page.mouse.wheel(0, 330)
    page.locator("#step").press("Home")
    yield
    for _ in range(int(page.locator("#step").get_attribute("max") or 0)):
        page.locator("#step").press("ArrowRight")
        yield


SCENES: dict[str, Callable[[Page, str], Iterator[None]]] = {
    "column": column, "table": table, "series": series, "drawing": drawing,
    "points": points, "automaton": automaton, "memory": memory,
}  # fmt: skip


def frame(page: Page) -> Image.Image:
    """Returns what the window shows, smaller and with few colours."""
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    small = shot.resize((SHOWN_WIDTH, SHOWN_WIDTH * shot.height // shot.width), Image.Resampling.LANCZOS)
    ImageDraw.Draw(small).rectangle((0, 0, small.width - 1, small.height - 1), outline=EDGE_COLOUR)
    return small.quantize(COLOURS, dither=Image.Dither.NONE)


def trained(folder: Path) -> list[Path]:
    """Trains three algorithms on the same data, and returns their run directories."""
    runs = [folder / name for name in ("mws", "rws", "vimco")]
    for run in runs:
        words = f"train clusters --algorithm {run.name} --steps 3000 --watch 12 --explore 0.2 --output {run}"
        subprocess.run([sys.executable, "-m", "wakesleep", *words.split()], check=True)
    return runs


def main() -> None:
    names = sys.argv[1:] or [*SCENES, f"column{DARK}"]
    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        ready = server.prepare(trained(Path(folder)) if "memory" in names else [], 0)
        threading.Thread(target=ready.run, daemon=True).start()
        time.sleep(2)
        base = "/".join(ready.address.split("/")[:4])
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in names:
            scheme: Literal["dark", "light"] = "dark" if name.endswith(DARK) else "light"
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
            frames = [frame(page) for _ in SCENES[name.removesuffix(DARK)](page, base)]
            durations = [FRAME_MILLISECONDS] * (len(frames) - 1) + [LAST_MILLISECONDS]
            path = TARGET / f"{name}.gif"
            frames[0].save(path, save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=True)
            print(path, f"{path.stat().st_size / 1000:.0f} kB", len(frames), "frames")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
