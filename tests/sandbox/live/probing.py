"""Prints the report of the self-test, with a secret in this process's environment."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import asdict

from sandtable.sandbox.live.selftest import examine_worker


def main() -> None:
    os.environ["SANDTABLE_TEST_SECRET"] = "x"
    print(json.dumps(asdict(asyncio.run(examine_worker()))))


if __name__ == "__main__":
    main()
