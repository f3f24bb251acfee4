"""Write the README's pictures of the web interface, docs/images/web-*.webp (`make screens`).

Real questions to a real server, in a real browser: the interface must be built and a Chromium be there.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "images"
PROGRAM = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
MOST_BYTES = 150_000
QUALITIES = (88, 80, 70, 60, 50)
DESK = {"width": 1360, "height": 860}
SHORT = {"width": 1360, "height": 560}
PHONE = {"width": 390, "height": 780}


@contextmanager
def served() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as home, (Path(home) / "log").open("w") as log:
        environment = {**os.environ, "SANDTABLE_HOME": home, "SANDTABLE_MODEL": "builtin"}
        command = [*PROGRAM, "serve", "--port", "0", "--json"]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert process.stdout
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()
            process.wait(20)


def ask(page: Page, question: str, status: str = "succeeded") -> None:
    box = page.get_by_role("textbox", name="Question", exact=True)
    box.fill(question)
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    box.press("Enter")
    expect(page.get_by_role("article", name="Answer").last.locator(f"[data-status={status}]")).to_be_visible()
    box.blur()


def open_details(page: Page, tab: str) -> None:
    page.get_by_role("button", name=re.compile("show details")).last.click()
    page.get_by_role("tab", name=tab).click()


def answer(page: Page, url: str) -> None:
    page.goto(url)
    ask(page, "Monthly revenue in 2025")
    page.goto(url)
    ask(page, "Which 5 categories have the highest return rate?")
    expect(page.locator(".plot-container")).to_be_visible()
    open_details(page, "Proof")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("Complete: everything that can be derived holds")).to_be_visible()


def refusal(page: Page, url: str) -> None:
    page.goto(url)
    ask(
        page, "SELECT category, avg(discount_rate) AS discount FROM order_itmes GROUP BY category", "rejected"
    )
    page.get_by_role("button", name="Edit the SQL").click()
    page.get_by_role("tab", name="SQL").click()
    expect(page.locator(".cm-lintRange-error")).to_be_visible()


def data(page: Page, url: str) -> None:
    page.goto(f"{url}/data/ecommerce?table=order_items")
    expect(page.get_by_role("grid").first).to_be_visible()
    page.get_by_role("button", name=re.compile("^category text Category")).click()
    page.get_by_role("region", name="order_items", exact=True).scroll_into_view_if_needed()


def small(page: Page, url: str) -> None:
    page.goto(url)
    ask(page, "Revenue by region and channel")
    expect(page.locator(".plot-container")).to_be_visible()


expect.set_options(timeout=20_000)

PICTURES: tuple[tuple[str, Callable[[Page, str], None], str, dict[str, int]], ...] = (
    ("web-answer", answer, "light", DESK),
    ("web-refusal", refusal, "light", SHORT),
    ("web-data", data, "dark", DESK),
    ("web-small", small, "dark", PHONE),
)


def drawn(
    browser: Browser, url: str, draw: Callable[[Page, str], None], theme: str, size: dict[str, int]
) -> bytes:
    """The best quality that is small enough."""
    context = browser.new_context(
        viewport=size,  # pyright: ignore[reportArgumentType]  # width and height
        color_scheme=theme,  # pyright: ignore[reportArgumentType]  # light or dark
        device_scale_factor=1.5,
        locale="en-GB",
        reduced_motion="reduce",
    )
    page = context.new_page()
    draw(page, url)
    page.mouse.move(0, 0)
    page.wait_for_timeout(600)
    devtools = context.new_cdp_session(page)
    for quality in QUALITIES:
        taken = devtools.send("Page.captureScreenshot", {"format": "webp", "quality": quality})
        picture = base64.b64decode(taken["data"])
        if len(picture) <= MOST_BYTES:
            break
    else:
        raise SystemExit(f"the picture stays larger than {MOST_BYTES} bytes")
    context.close()
    return picture


def main() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    with served() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=[*FLAGS])
        for name, draw, theme, size in PICTURES:
            picture = drawn(browser, url, draw, theme, size)
            (TARGET / f"{name}.webp").write_bytes(picture)
            print(f"docs/images/{name}.webp: {len(picture) / 1000:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main()
