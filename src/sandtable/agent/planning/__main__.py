"""The first moments of a planner process: its life is bound to its server's before anything heavy is loaded."""

from __future__ import annotations

import importlib
import sys

from sandtable_runner import kernel


def main() -> None:
    socket_fd, server = map(int, sys.argv[1:])
    kernel.die_with_parent(server)
    importlib.import_module("sandtable.agent.planning.worker").main(socket_fd)


if __name__ == "__main__":
    main()
