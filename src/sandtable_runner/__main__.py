"""The first moments of a template process: its life is bound to its server's before the engine is loaded.

Invariant: nothing heavy is imported before the kernel was asked to end this process with its parent. Libraries take
seconds to load, and a server that is killed meanwhile must leave nothing behind.
"""

from __future__ import annotations

import importlib
import json
import sys

from sandtable_runner import kernel


def main() -> None:
    config = json.loads(sys.argv[1])
    # The configuration names folders of the host. Children inherit this process's memory.
    del sys.argv[1:], sys.orig_argv[1:]
    kernel.die_with_parent(config["server"])
    importlib.import_module("sandtable_runner.zygote").main(config)


if __name__ == "__main__":
    main()
