"""Latency and robustness of the explorer, measured in a headless Chromium against a server process of its own.

    python benchmarks/explore.py [--no-series]     # writes results/benchmark-explore.json

Needs the extras `explore` and `browser`, and Chromium. Latency: the time from the key or the paste to the change in the
page, 50 times each. Robustness: 100 requests at once, 20 malformed uploads, 3 killed clients; then the server must
answer, and its memory be back within 100 MB.
"""

import http.client
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "results" / "benchmark-explore.json"
REPEATS, REQUESTS, KILLS = 50, 100, 3
LARGE_MB = 200
SETTLE_SECONDS = 5
MALFORMED = [
    b"", b"\x00" * 99, b"PK\x03\x04x", b"PAR1" + b"\x00" * 40 + b"PAR1", b'"' * 999, b"\x1f\x8b\x00", b"{" * 999,
]  # fmt: skip
COLUMN = "\n".join(f"INV-{1000 + 37 * i}-{'AB'[i % 2]}" for i in range(20))


def start() -> tuple[subprocess.Popen[str], str, float]:
    """Starts the server on a table; returns the process, the address, and the time until it was printed."""
    began = time.monotonic()
    words = [sys.executable, "-m", "wakesleep", "explore", str(ROOT / "examples/orders.csv"), "--no-browser"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    text = ""
    while " until" not in text:
        text += process.stdout.readline().replace("\n", " ") or exit_with("the server did not start")
    address = text.split("http://")[1].replace(" ", "").split("until")[0]
    return process, f"http://{address}", time.monotonic() - began


def exit_with(sentence: str) -> str:
    raise SystemExit(sentence)


def resident_mb(process: "subprocess.Popen[str]") -> float:
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def cpu_seconds(process: "subprocess.Popen[str]") -> float:
    """Returns the processor time that the server has used so far, which other work on the machine hardly changes."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Clock:
    """Times acts in the browser, and the server's processor time in them."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def timed(self, act: Callable[[int], Any], settle: Callable[[], Any] = lambda: None) -> dict[str, float]:
        """Returns the median and the 95th percentile of an act, after one that is not counted; settling is not timed.

        `server_cpu_s` is the mean processor time of the server during the act.
        """
        act(-1)
        settle()
        seconds, used = [], 0.0
        for i in range(REPEATS):
            began, cpu = time.monotonic(), cpu_seconds(self.process)
            act(i)
            seconds.append(time.monotonic() - began)
            used += cpu_seconds(self.process) - cpu
            settle()
        return {
            "median_s": round(statistics.median(seconds), 4),
            "p95_s": round(statistics.quantiles(seconds, n=20)[-1], 4),
            "server_cpu_s": round(used / REPEATS, 4),
            "times": REPEATS,
        }


def typed_value(clock: Clock, page: Page, base: str) -> dict[str, float]:
    page.goto(f"{base}/column/")
    page.wait_for_selector("#found table")

    def act(i: int) -> None:
        page.locator("#value").fill(f"ORD-{20_000 + i}x")
        page.locator("#verdict", has_text=f"ORD-{20_000 + i}x").wait_for()

    return clock.timed(act)


def first_pattern(clock: Clock, page: Page, base: str) -> dict[str, float]:
    def act(i: int) -> None:
        page.locator("#values").fill(COLUMN.replace("INV", f"I{i + 100}"))
        page.get_by_role("button", name="Explain").click()
        page.locator("#found", has_text=f"I{i + 100}-").wait_for()

    return clock.timed(act)


def series(clock: Clock, page: Page, base: str, points: int, said: str, whole: bool = True) -> dict[str, float]:
    """Times a series until the status says something: `after` with the first answer, `explained in` with the last.

    Between two times the rest of the answer is awaited, or stopped where it is long.
    """
    page.goto(f"{base}/series/")
    page.locator("#status", has_text="explained in").wait_for()
    page.locator("#season").fill("12")
    fill = "(element, text) => { element.value = text; document.querySelector('#status').textContent = ''; }"

    def act(i: int) -> None:
        values = "\n".join(str(100 + i + t + 10 * ((t % 12) == 3) + 40 * (t > points / 2)) for t in range(points))
        page.locator("#values").evaluate(fill, values)
        page.get_by_role("button", name="Explain").click()
        page.locator("#status", has_text=re.compile(said)).wait_for(timeout=120_000)

    def settle() -> None:
        if not whole and page.locator("#stop").is_enabled():
            page.locator("#stop").click()
            page.locator("#status", has_text="Stopped").wait_for()
            time.sleep(SETTLE_SECONDS)  # the server leaves the work at the end of a stage
        else:
            page.locator("#status", has_text="explained in").wait_for()

    return clock.timed(act, settle)


def latencies(clock: Clock, address: str, base: str) -> dict[str, Any]:
    """Returns the time to a useful page, and those of typed values, columns and series."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        began = time.monotonic()
        page.goto(address)
        page.locator("#rows tr").first.wait_for()
        found: dict[str, Any] = {"first_column_of_the_table_s": round(time.monotonic() - began, 3)}
        found["typed_value"] = typed_value(clock, page, base)
        found["first_pattern_of_20_values"] = first_pattern(clock, page, base)
        if "--no-series" not in sys.argv:
            found["series_of_120_values_first"] = series(clock, page, base, 120, "after|explained in")
            found["series_of_120_values"] = series(clock, page, base, 120, "explained in")
            found["series_of_5000_values_first"] = series(clock, page, base, 5_000, "after|explained in", whole=False)
        browser.close()
    return found


def post(address: str, body: bytes, accept: str = "text/html") -> int:
    request = urllib.request.Request(address, body, {"accept": accept})
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            answer.read()
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.read()
        return error.code


def crowd(base: str) -> dict[str, int]:
    """Sends questions at once; returns how many were answered by each status."""
    bodies = [urllib.parse.urlencode({"values": COLUMN.replace("INV", f"X{i}")}).encode() for i in range(REQUESTS)]
    with ThreadPoolExecutor(REQUESTS) as pool:
        found = list(pool.map(lambda body: post(f"{base}/column/ask/explain", body), bodies))
    return {str(status): found.count(status) for status in sorted(set(found))}


def malformed(base: str) -> dict[str, int]:
    """Uploads damaged files and asks for each; returns how streams ended."""
    ends: dict[str, int] = {}
    for i in range(20):
        name = ["t.csv", "t.xlsx", "t.parquet", "t.gz", "t.jsonl"][i % 5]
        address = f"{base}/upload?name={name}"
        request = urllib.request.Request(address, MALFORMED[i % len(MALFORMED)], method="POST")
        with urllib.request.urlopen(request) as answer:
            word = json.load(answer)["file"]
        with urllib.request.urlopen(f"{base}/table/stream/columns?file={word}") as stream:
            end = stream.read().decode().strip().split("\n\n")[-1].split("\n")[0].removeprefix("event: ")
        ends[end] = ends.get(end, 0) + 1
    return ends


def large(base: str) -> int:
    """Announces an upload of 200 MB and sends the first of them; returns the status that the server answers."""
    parts = urllib.parse.urlsplit(base)
    client = http.client.HTTPConnection(parts.netloc, timeout=60)
    client.putrequest("POST", f"{parts.path}/upload?name=large.csv")
    client.putheader("content-length", str(LARGE_MB << 20))
    client.endheaders()
    client.send(bytes(1 << 20))
    status = client.getresponse().status
    client.close()
    return status


def killed_clients(address: str, base: str) -> None:
    """Kills clients while they read a stream."""
    word = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)["file"][0]
    code = f"import urllib.request as u; r = u.urlopen('{base}/table/stream/columns?file={word}'); r.read(1); r.read()"
    for _ in range(KILLS):
        client = subprocess.Popen([sys.executable, "-c", code])
        time.sleep(0.7)
        client.send_signal(signal.SIGKILL)
        client.wait()


def main() -> None:
    process, address, started = start()
    base = "/".join(address.split("/")[:4])
    try:
        found = {"address_printed_s": round(started, 3), **latencies(Clock(process), address, base)}
        before = resident_mb(process)
        robust: dict[str, Any] = {"resident_before_mb": round(before, 1), "answers": crowd(base)}
        robust["malformed"] = malformed(base)
        robust["upload_of_200_mb"] = large(base)
        killed_clients(address, base)
        time.sleep(5)
        robust["answers_afterwards"] = post(f"{base}/column/ask/explain", b"values=A1%0AA2%0AA3")
        robust["resident_after_mb"] = round(resident_mb(process), 1)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)
    machine = {"load_average": os.getloadavg()[0], "processors": os.cpu_count(), "niceness": os.nice(0)}
    result = {**found, "robustness": robust, **machine}
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
