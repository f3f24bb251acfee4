"""The first process of a cluster's namespaces: it takes in orphans, and everything in there ends with it."""

from __future__ import annotations

import signal

if __name__ == "__main__":
    # The kernel then buries the dead by itself.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        signal.pause()
