"""What takes long to load of the reader: its libraries, its encoder and its matrices, without the rest of the planner.

It needs the extra `reader` (onnxruntime) and the files in `model/`. Most of the work takes place outside Python, so a
command can do it on a thread while it imports its modules.
"""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import os
import sys
from concurrent.futures import Future
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = files("sandtable.planner.candidates.network") / "model"
_ENCODER = "encoder.onnx.gz"
_BLAS_THREADS = "OPENBLAS_NUM_THREADS"
_NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
_BY_ROW = frozenset({"word.weight", "step.weight", "kind.weight"})


@dataclass(frozen=True, slots=True)
class Loaded:
    numpy: Any
    session: Any
    """The encoder, in onnxruntime."""
    weights: dict[str, NDArray[np.float32]]
    """Of the decoder, by name."""


_BEGUN: dict[Path, Future[Loaded]] = {}
_LOADED: set[Path] = set()
"""The process keeps what it has loaded (`reader.the_reader`)."""


def has_reader() -> bool:
    """Whether there is a reader to load; loads nothing."""
    return importlib.util.find_spec("onnxruntime") is not None and (MODEL / _ENCODER).is_file()


def begin() -> None:
    """Loads the reader that is shipped on a thread, for a later `load`, which raises what went wrong.

    Not a daemon: the interpreter must not end while onnxruntime, which cannot be stopped, is at work.
    """
    if not isinstance(MODEL, Path) or MODEL in _LOADED or not has_reader():
        return
    begun = _BEGUN[MODEL] = Future[Loaded]()

    def work(folder: Path) -> None:
        try:
            begun.set_result(_loaded_from(folder))
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            begun.set_exception(error)

    Thread(target=work, args=(MODEL,), name="reader").start()


def load(folder: Path) -> Loaded:
    """Waits for what was begun; loads it otherwise."""
    begun = _BEGUN.pop(folder, None)
    loaded = _loaded_from(folder) if begun is None else begun.result()
    _LOADED.add(folder)
    return loaded


def _loaded_from(folder: Path) -> Loaded:
    numpy = _numpy_of_one_thread()
    onnxruntime = _onnxruntime_without_telemetry()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    encoder = gzip.decompress((folder / _ENCODER).read_bytes())
    session = onnxruntime.InferenceSession(encoder, options, providers=["CPUExecutionProvider"])
    return Loaded(numpy, session, _weights(folder / "decoder.npz"))


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
