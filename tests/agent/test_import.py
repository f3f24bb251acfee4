"""LangGraph takes most of a second to import: commands without a conversation do not, and a server listens before."""

from __future__ import annotations

import subprocess
import sys


def test_the_parts_do_not_load_the_conversation() -> None:
    program = (
        "import sys, sandtable.assemble, sandtable.cli, sandtable.server.app; "
        "print([name for name in ('langgraph', 'langchain_core') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
