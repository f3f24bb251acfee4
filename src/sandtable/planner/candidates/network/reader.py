"""The reader: a question and a dataset in, the likeliest plans out.

Its libraries and its files (`loading`) are loaded once for the process, at the first question or by a command that
is about to ask one; without them `the_reader()` is None, and only the grammar and the lookup are used.
Invariant: the same question over the same dataset gives the same plans in every thread.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file
from pathlib import Path
from typing import TYPE_CHECKING

from sandtable.observing import timed_part
from sandtable.planner.candidates.network.decoder import Decoder, Written
from sandtable.planner.candidates.network.fitting import as_stated, in_fiscal_periods, plan_for
from sandtable.planner.candidates.network.inputs import Inputs, inputs_of
from sandtable.planner.candidates.network.loading import MODEL, has_reader, load
from sandtable.planner.candidates.network.pieces import Pieces
from sandtable.planner.candidates.network.plans import Json
from sandtable.planner.candidates.network.sketch import Token
from sandtable.planner.schema.index import SchemaIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Read:
    """A plan that the network wrote."""

    sketch: tuple[Token, ...]
    plan: Json | None
    """None for `none`: the network finds that the dataset does not answer the question."""
    likelihood: float
    logs: tuple[float, ...]
    """The logarithm of the probability of each token."""


class Reader:
    def __init__(self, folder: Path) -> None:
        loaded = load(folder)
        self._np = loaded.numpy
        self._session = loaded.session
        self._pieces = Pieces.load(folder / "vocabulary.txt")
        self._decoder = Decoder(loaded.weights)

    @timed_part("network")
    def read(self, question: str, index: SchemaIndex, before: Json | None = None) -> list[Read]:
        """The likeliest plans, best first; `before` is the plan of the answer that the question may follow."""
        made = inputs_of(question, index, self._pieces, before)
        written = self._decoder.write(made, self._memory(made), index.reach)
        return [self._as_plan(each, question, index) for each in written]

    def _as_plan(self, written: Written, question: str, index: SchemaIndex) -> Read:
        sketch = as_stated(written.sketch, question, index)
        plan = in_fiscal_periods(plan_for(sketch, index), question, index)
        return Read(sketch, plan, written.likelihood, written.logs)

    def _memory(self, made: Inputs) -> NDArray[np.float32]:
        np = self._np
        given = {
            "piece": np.array(made.pieces, dtype=np.int64),
            "place": np.arange(len(made.pieces), dtype=np.int64),
            "part": np.array(made.parts, dtype=np.int64),
            "typed": np.array(made.types, dtype=np.int64),
            "mark": np.array(made.marks, dtype=np.int64),
        }
        (memory,) = self._session.run(None, given)
        return memory


_LOCK = threading.Lock()


@lru_cache(maxsize=1)
def _loaded() -> Reader | None:
    if not has_reader():
        return None
    with as_file(MODEL) as path:
        return Reader(path)


def the_reader() -> Reader | None:
    """The one reader of this process; None where its extra is not installed."""
    with _LOCK:
        return _loaded()
