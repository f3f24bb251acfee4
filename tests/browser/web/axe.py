"""What axe, the accessibility checker, finds on a page."""

from __future__ import annotations

from functools import cache
from typing import Any

from playwright.sync_api import Page

from tests.browser.conftest import ROOT

AXE = ROOT / "web/app/node_modules/axe-core/axe.min.js"
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_RUN = """async (tags) => {
  const { violations } = await axe.run(document, { runOnly: { type: "tag", values: tags } });
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => ({
    rule: id, where: node.target.join(" "), what: node.html.slice(0, 160), why: node.failureSummary,
  })));
}"""


@cache
def _program() -> str:
    return AXE.read_text(encoding="utf-8")


def violations(page: Page) -> list[dict[str, Any]]:
    # Evaluated from outside, so that the page's own policy need not allow it.
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(_program())
    return page.evaluate(_RUN, _RULES)
