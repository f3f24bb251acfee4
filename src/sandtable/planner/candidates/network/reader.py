"""The reader: a question and a dataset in, the likeliest plans out.

It needs the extra `reader` (onnxruntime) and the files in `model/`. They are loaded at the first question, once for
the process, never at start-up; without them `the_reader()` is None, and only the grammar and the lookup are used.
Invariant: the same question over the same dataset gives the same plans in every thread.
"""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import os
import sys
import threading
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandtable.planner.candidates.network.decoder import Decoder, Written
from sandtable.planner.candidates.network.fitting import as_stated, in_fiscal_periods, plan_for
from sandtable.planner.candidates.network.inputs import Inputs, inputs_of
from sandtable.planner.candidates.network.pieces import Pieces
from sandtable.planner.candidates.network.plans import Json
from sandtable.planner.candidates.network.sketch import Token
from sandtable.planner.schema.index import SchemaIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ENCODER = "encoder.onnx.gz"
_BLAS_THREADS = "OPENBLAS_NUM_THREADS"
_NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
_BY_ROW = frozenset({"word.weight", "step.weight", "kind.weight"})


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
        numpy = _numpy_of_one_thread()
        onnxruntime = _onnxruntime_without_telemetry()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._np = numpy
        encoder = gzip.decompress((folder / _ENCODER).read_bytes())
        self._session: Any = onnxruntime.InferenceSession(
            encoder, options, providers=["CPUExecutionProvider"]
        )
        self._pieces = Pieces.load(folder / "vocabulary.txt")
        self._decoder = Decoder(_weights(folder / "decoder.npz"))

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


def _numpy_of_one_thread() -> Any:
    """numpy with single-threaded matrix products, unless the process has already loaded it.

    The products are small: two threads that wait for each other take several times as long on a busy machine. The
    library reads the setting when it is loaded, so it need not stay in the environment.
    """
    if "numpy" in sys.modules:
        return importlib.import_module("numpy")
    os.putenv(_BLAS_THREADS, "1")
    try:
        return importlib.import_module("numpy")
    finally:
        os.unsetenv(_BLAS_THREADS)


def _onnxruntime_without_telemetry() -> Any:
    """onnxruntime without telemetry. From 1.29 on it sends usage reports, and keeps an identifier and a database for
    them in the user's home, unless this is set when it is loaded."""
    os.putenv(_NO_TELEMETRY, "1")
    return importlib.import_module("onnxruntime")


def _weights(path: Path) -> dict[str, NDArray[np.float32]]:
    """Matrices in the decoder's layout: transposed, except those that are looked up by row."""
    import numpy as np

    found: dict[str, NDArray[np.float32]] = {}
    with np.load(path, allow_pickle=False) as stored:
        for name in stored.files:
            if name.endswith(":scale"):
                continue
            value = stored[name].astype(np.float32)
            if f"{name}:scale" in stored.files:
                value = value * stored[f"{name}:scale"][:, None]
                if name not in _BY_ROW:
                    value = np.ascontiguousarray(value.T)
            found[name] = value
    return found


_LOCK = threading.Lock()
_MODEL = files("sandtable.planner.candidates.network") / "model"


def has_reader() -> bool:
    """Whether there is a reader to load; loads nothing."""
    return importlib.util.find_spec("onnxruntime") is not None and (_MODEL / _ENCODER).is_file()


@lru_cache(maxsize=1)
def _loaded() -> Reader | None:
    if not has_reader():
        return None
    with as_file(_MODEL) as path:
        return Reader(path)


def the_reader() -> Reader | None:
    """The one reader of this process; None where its extra is not installed."""
    with _LOCK:
        return _loaded()
