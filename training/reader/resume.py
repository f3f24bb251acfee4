"""The weights of an earlier training, or of the shipped reader, so that a training can go on from them.

The shipped files hold integers; what comes of them are the numbers that they stand for. ONNX is read without its
package, so that the machine with the GPU needs nothing but PyTorch.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np

HIDDEN, LAYERS = 384, 12
_PLACES = 256
"""The network's places; the shipped encoder has those that are used."""
_KINDS = {1: np.float32, 3: np.int8, 7: np.int64}
_GRAPH, _INITIALIZER = 7, 5
_DIMS, _KIND, _FLOATS, _SMALL, _NAME, _RAW = 1, 2, 4, 5, 8, 9
"""Numbers of fields in ONNX's ModelProto, GraphProto and TensorProto."""


def earlier_weights(folder: Path) -> dict[str, np.ndarray]:
    """Of `weights-*.npz`, as training writes them, or else of the files of a shipped reader."""
    found: dict[str, np.ndarray] = {}
    for path in sorted(folder.glob("weights-*.npz")):
        with np.load(path) as part:
            found |= {name: part[name].astype(np.float32) for name in part.files}
    return found or {
        **_encoder(_tensors(gzip.decompress((folder / "encoder.onnx.gz").read_bytes()))),
        **_decoder(folder / "decoder.npz"),
    }


def _encoder(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    made: dict[str, np.ndarray] = {}
    for name in ("piece", "place", "part", "typed", "mark"):
        made[f"{name}.weight"] = given[f"{name}.weight"].astype(np.float32) * given[f"{name}.scale"]
    unused = np.zeros((_PLACES - len(made["place.weight"]), HIDDEN), np.float32)
    made["place.weight"] = np.concatenate([made["place.weight"], unused])
    for name in ("norm", *(f"layers.{n}.{end}" for n in range(LAYERS) for end in ("n1", "n2"))):
        made[f"{name}.weight"], made[f"{name}.bias"] = given[f"{name}.scale"], given[f"{name}.shift"]
    for layer in range(LAYERS):
        for part in ("qkv", "o", "up", "down"):
            name = f"layers.{layer}.{part}"
            integers = given[f"{name}.weight_quantized"].astype(np.float32)
            offsets = given[f"{name}.weight_zero_point"].astype(np.float32)
            weight = ((integers - offsets) * given[f"{name}.weight_scale"]).T
            for at, each in enumerate("qkv" if part == "qkv" else (part,)):
                rows = slice(at * HIDDEN, (at + 1) * HIDDEN) if part == "qkv" else slice(None)
                made[f"layers.{layer}.{each}.weight"] = weight[rows]
                made[f"layers.{layer}.{each}.bias"] = given[f"{name}.bias"][rows]
    return made


def _decoder(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as stored:
        return {
            name: stored[name].astype(np.float32) * stored[f"{name}:scale"][:, None]
            if f"{name}:scale" in stored.files
            else stored[name]
            for name in stored.files
            if not name.endswith(":scale")
        }


def _tensors(model: bytes) -> dict[str, np.ndarray]:
    """The initializers of an ONNX model by name."""
    found: dict[str, np.ndarray] = {}
    graph = next(value for number, value in _fields(model) if number == _GRAPH)
    for number, tensor in _fields(graph):
        if number != _INITIALIZER:
            continue
        shape: list[int] = []
        name, kind, raw = "", 0, b""
        for field, value in _fields(tensor):
            if field == _DIMS:
                shape += [value] if isinstance(value, int) else _numbers(value)
            elif field == _KIND:
                kind = value
            elif field == _NAME:
                name = value.decode()
            elif field in (_RAW, _FLOATS):
                raw = value
            elif field == _SMALL:
                raw = np.array(_numbers(value), dtype=np.uint64).astype(_KINDS[kind]).tobytes()
        found[name] = np.frombuffer(raw, dtype=_KINDS[kind]).reshape(shape)
    return found


def _fields(message: bytes | memoryview) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protobuf message: their numbers and values."""
    data, at = memoryview(message), 0
    while at < len(data):
        key, at = _number(data, at)
        if key & 7 == 0:
            value, at = _number(data, at)
            yield key >> 3, value
        elif key & 7 == 2:
            size, at = _number(data, at)
            yield key >> 3, bytes(data[at : at + size])
            at += size
        else:
            at += {1: 8, 5: 4}[key & 7]


def _numbers(packed: bytes) -> list[int]:
    found: list[int] = []
    data, at = memoryview(packed), 0
    while at < len(data):
        number, at = _number(data, at)
        found.append(number)
    return found


def _number(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
