"""Starts what a command waits for before its modules are loaded, so that both take place at once."""

from __future__ import annotations

from collections.abc import Sequence

from sandtable.errors import InvalidInput
from sandtable.planner.candidates.network import loading
from sandtable.private import private_folder
from sandtable.process import load_settings
from sandtable.sandbox.local.launch import Wanted, begin


def begin_early(command: str, arguments: Sequence[str]) -> None:
    """Sandboxes, and the reader of questions. A wrong guess costs processor time and nothing else."""
    try:
        settings = load_settings()
    except InvalidInput:
        return  # The command reads them again, and says what is wrong.
    store = settings.home / "data"
    try:
        # A template mounts it.
        private_folder(settings.home)
        store.mkdir(exist_ok=True)
    except OSError:
        return  # The command opens it again, and says what is wrong.
    begin(Wanted("sql", store, settings.isolation, 0))
    if "--python" in arguments and settings.python != "off":
        begin(Wanted("py", store, settings.isolation, 0))
    if command == "ask" and settings.reader:
        # After the sandboxes: starting a process forks this one, which is best done while it has one thread.
        loading.begin()
