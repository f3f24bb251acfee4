"""The program of a planner process: data and questions in, outcomes out, one after the other.

It loads the reader once and builds the index of a dataset version once. It opens no data file, and has nothing of the
server's environment. It ends with the socket, and by the kernel with its server.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import traceback
from collections import OrderedDict

from sandtable.agent.planning.wire import (
    LENGTH,
    Data,
    Failed,
    Message,
    Planned,
    Question,
    Ready,
    Reply,
    UnknownData,
    packed,
    unpacked,
)
from sandtable.observing import Stopwatch
from sandtable.planner.candidates.network.reader import Reader, the_reader
from sandtable.planner.planner import plan_question
from sandtable.planner.schema.index import SchemaIndex

MOST_INDEXES = 32


class Worker:
    def __init__(self, reader: Reader | None) -> None:
        self._reader = reader
        self._indexes: OrderedDict[str, SchemaIndex] = OrderedDict()

    def reply_to(self, message: Message) -> Reply:
        try:
            return self._learnt(message) if isinstance(message, Data) else self._planned(message)
        except Exception:  # noqa: BLE001 - the server says what became of the question
            return Failed(traceback.format_exc())

    def _learnt(self, data: Data) -> Reply:
        self._indexes[data.key] = SchemaIndex.build(data.dataset, data.profile)
        while len(self._indexes) > MOST_INDEXES:
            self._indexes.popitem(last=False)
        # Objects that are alive now stay alive: the garbage collector need not scan them again.
        gc.collect()
        gc.freeze()
        return Ready()

    def _planned(self, question: Question) -> Reply:
        index = self._indexes.get(question.key)
        if index is None:
            return UnknownData()
        self._indexes.move_to_end(question.key)
        if not question.timed:
            return Planned(plan_question(question.text, index, question.before, reader=self._reader))
        with Stopwatch() as watch:
            outcome = plan_question(question.text, index, question.before, reader=self._reader)
        return Planned(outcome, watch.spent)


def main(socket_fd: int) -> None:
    """Called by `__main__`."""
    with socket.socket(fileno=socket_fd) as connection, connection.makefile("rb") as incoming:
        try:
            worker = Worker(the_reader())
        except Exception:  # noqa: BLE001 - as above
            connection.sendall(packed(Failed(traceback.format_exc())))
            return
        # A server that disappears in the middle of a message is treated as gone.
        with contextlib.suppress(OSError, EOFError):
            connection.sendall(packed(Ready()))
            while len(head := incoming.read(LENGTH.size)) == LENGTH.size:
                (length,) = LENGTH.unpack(head)
                connection.sendall(packed(worker.reply_to(unpacked(incoming.read(length)))))
    # Native libraries may have threads that end later than they should.
    os._exit(0)
