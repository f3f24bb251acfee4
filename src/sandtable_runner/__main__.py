"""Entry point of a template process: it binds its lifetime to the server's before it loads the engine.

Invariant: nothing heavy is imported before the kernel was asked to kill this process with its parent. Libraries take
seconds to load, and a server that is killed meanwhile must leave no orphaned process.
"""

from __future__ import annotations

import json
import sys

from sandtable_runner import kernel


def main() -> None:
    config = json.loads(sys.argv[1])
    # The configuration names folders of the host, and children inherit this process's memory.
    del sys.argv[1:], sys.orig_argv[1:]
    kernel.die_with_parent(config["server"])
    from sandtable_runner import zygote  # loads the engine

    zygote.main(config)


if __name__ == "__main__":
    main()
