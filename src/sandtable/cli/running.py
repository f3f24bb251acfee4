"""Runs the async part of a command to its end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from sandtable.cli.group import TERMINATED

T = TypeVar("T")


def run_to_end(work: Callable[[], Awaitable[T]]) -> T:
    """Like Ctrl-C, SIGTERM cancels and closes what is in progress."""

    async def interruptible() -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work()

    try:
        return asyncio.run(interruptible())
    except asyncio.CancelledError:
        raise click.exceptions.Exit(TERMINATED) from None
