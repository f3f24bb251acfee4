"""Write docs/images/terminal.svg: real commands, run in a real terminal, drawn as a picture (`make picture`).

The picture loads nothing: the fonts are whatever the reader's machine has.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "images" / "terminal.svg"
WIDTH = 92
PROGRESS = re.compile(r"^.*[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏].*…[^\n]*\n", re.MULTILINE)
"""The line that moves while a person waits: it is gone when the answer is there."""
SESSION = (
    ("ask", "Which 5 categories have the highest return rate?", "--dataset", "ecommerce"),
    ("check", "--dataset", "ecommerce", "--sql", "SELECT * FROM read_csv('/etc/passwd')"),
    ("verify", "{run}"),
)  # fmt: skip


def in_terminal(arguments: list[str], home: str) -> str:
    """The command's output, as a person would see it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    environment = {**os.environ, "SANDTABLE_HOME": home, "TERM": "xterm-256color", "COLUMNS": str(WIDTH)}
    with subprocess.Popen(
        [str(Path(sys.executable).with_name("sandtable")), *arguments],
        stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
    ):  # fmt: skip
        os.close(theirs)
        parts: list[bytes] = []
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:
                break
            if not part:
                break
            parts.append(part)
    os.close(ours)
    return b"".join(parts).decode().replace("\r\n", "\n")


def shown(arguments: tuple[str, ...]) -> str:
    return " ".join(["$ sandtable", *(f'"{a}"' if " " in a else a for a in arguments)])


def main() -> None:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="truecolor")
    run_id = ""
    with tempfile.TemporaryDirectory() as home:
        in_terminal(["run", "--dataset", "ecommerce", "--sql", "SELECT 1"], home)
        for template in SESSION:
            arguments = [argument.replace("{run}", run_id) for argument in template]
            output = re.sub(PROGRESS, "", in_terminal(arguments, home))
            found = re.search(r"run_[0-9a-f]+", output)
            run_id = found[0] if found else run_id
            console.print(Text(shown(tuple(arguments)), style="bold"))
            console.print(Text.from_ansi(output.rstrip()))
            console.print()
    svg = console.export_svg(title="sandtable", theme=MONOKAI, unique_id="terminal")
    for remote in (r"@font-face \{.*?\}\s*", r"<!-- Generated.*?-->\s*"):
        svg = re.sub(remote, "", svg, flags=re.DOTALL)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(svg, "utf-8")


if __name__ == "__main__":
    main()
