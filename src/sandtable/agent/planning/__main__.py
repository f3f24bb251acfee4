"""The first moments of a planner process: its life is bound to its server's before anything heavy is loaded."""

from __future__ import annotations

import sys

from sandtable_runner import kernel


def main() -> None:
    socket_fd, server = map(int, sys.argv[1:])
    kernel.die_with_parent(server)
    from sandtable.agent.planning import worker  # loads the planner

    worker.main(socket_fd)


if __name__ == "__main__":
    main()
