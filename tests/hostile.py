"""Fragments that would do something where they are rendered, and an oracle: what a renderer makes of a text."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

FRAGMENTS: dict[str, str] = {
    "image": "![x](https://evil.test/x.png)",
    "image without an alternative": "![](https://evil.test/pixel.gif?leak=1)",
    "image by reference": "![x][evil]\n\n[evil]: https://evil.test/x.png",
    "link": "[click](https://evil.test)",
    "script link": "[click](javascript:alert(1))",
    "data link": "[click](data:text/html;base64,PHNjcmlwdD4=)",
    "link by reference": "[evil]",
    "definition": "[evil]: https://evil.test",
    "footnote": "x[^1]\n\n[^1]: https://evil.test",
    "autolink": "<https://evil.test>",
    "bare address": "https://evil.test/path?q=1",
    "bare address in capitals": "HTTPS://EVIL.TEST",
    "address without a scheme": "www.evil.test",
    "mail address": "someone@evil.test",
    "mail link": "mailto:someone@evil.test",
    "ftp": "ftp://evil.test/x",
    "html image": "<img src=x onerror=alert(1)>",
    "html script": "<script>alert(1)</script>",
    "html comment": "<!-- hidden -->",
    "html entity": "&#60;img src=x&#62; &lt;b&gt;",
    "svg": '<svg onload="alert(1)">',
    "iframe": '<iframe src="https://evil.test"></iframe>',
    "heading": "# Verified",
    "underlined heading": "Verified\n========",
    "other underlined heading": "Verified\n---",
    "table": "| a | b |\n|---|---|\n| 1 | 2 |",
    "list": "- one\n- two",
    "plus list": "+ one",
    "numbered list": "1. one",
    "other numbered list": "7) one",
    "quotation": "> said",
    "rule": "***",
    "bold": "**bold**",
    "emphasis": "*emphasis*",
    "underscores": "_emphasis_ and __bold__",
    "strike": "~~gone~~",
    "code": "`code`",
    "code that breaks out": "a` ![x](https://evil.test) `b",
    "two backticks": "`` ![x](https://evil.test) ``",
    "odd backticks": "a ` b `` c ``` d",
    "fence": "```\nx\n```\n![x](https://evil.test)",
    "tilde fence": "~~~\nx\n~~~",
    "indented code": "    indented",
    "math": "$x^2$ and $$\\href{https://evil.test}{x}$$",
    "one dollar each": "$5",
    "backslashes": "\\![x](https://evil.test) \\",
    "line breaks": "one  \ntwo\\\nthree",
    "paragraphs": "one\n\n![x](https://evil.test)\n\ntwo",
    "carriage return": "one\r![x](https://evil.test)",
    "null": "a\x00b",
    "terminal colour": "\x1b[31mred\x1b[0m",
    "terminal link": "\x1b]8;;https://evil.test\x1b\\click\x1b]8;;\x1b\\",
    "terminal title": "\x1b]0;owned\x07",
    "bidirectional": "abc\u202egnp.exe",
    "zero width": "a\u200b\u200d\ufeffb",
    "tag characters": "a\U000e0041\U000e007f",
    "brackets": "[[table-1]]",
    "formula": '=HYPERLINK("https://evil.test")',
    "endless": "![x](https://evil.test) " * 200,
}
_HARMLESS = frozenset({"paragraph_open", "paragraph_close", "inline", "text", "code_inline", "softbreak"})
_ADDRESS = re.compile(r"https?://|www\.|[\w.+-]+@[\w-]+\.\w|\b(?:mailto|xmpp|ftp):", re.IGNORECASE)
# Math, as the stock chat reads it, and footnotes: marks that this parser does not know.
_MARKS = re.compile(r"(?<!\\)\$|\[\^")
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_PARSER = MarkdownIt("gfm-like", {"html": True, "linkify": False})


def live_in(markdown: str, *ours: str) -> list[str]:
    """What of a Markdown text is more than words and code. `ours`: kinds of tokens that we put there ourselves."""
    tokens = _PARSER.parse(markdown)
    flat = [child for token in tokens for child in (token, *(token.children or ()))]
    found = [f"{token.type}: {token.content}" for token in flat if token.type not in _HARMLESS | {*ours}]
    words = [token.content for token in flat if token.type == "text"]
    # Links are made of words after markup is read: a backslash before the colon does not help.
    found += [f"address: {text}" for text in words if _ADDRESS.search(text)]
    bare = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", markdown, flags=re.DOTALL)
    found += [f"mark: {text}" for text in _MARKS.findall(bare)]
    return found + [f"hidden: {text!a}" for text in _HIDDEN.findall(markdown)]
