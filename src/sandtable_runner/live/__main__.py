"""Entry point of a worker: it binds its lifetime to the server's before it loads a driver."""

from __future__ import annotations

import json
import sys

from sandtable_runner import kernel


def main() -> None:
    config = json.loads(sys.argv[1])
    kernel.die_with_parent(config["server"])
    from sandtable_runner.live import worker  # loads the driver

    worker.main(config)


if __name__ == "__main__":
    main()
