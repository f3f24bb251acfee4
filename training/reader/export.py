"""What the product loads, made of a training's weights: `python -m training.reader.export WEIGHTS OUT`.

WEIGHTS is the folder with `weights-*.npz`. Needs the packages `onnx` and `onnxruntime`. Writes `encoder.onnx.gz` (the
encoder, its weights rounded as `rounding` says) and `decoder.npz` (the decoder, its weights as 8-bit integers with a
scale for each row).
"""

from __future__ import annotations

import argparse
import tempfile
import zlib
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from training.reader.resume import earlier_weights
from training.reader.rounding import rounded

HIDDEN, LAYERS, HEADS, SIZE = 384, 12, 12, 224
_EMBEDDED_STEP = 0.1
"""One step of the embeddings, of which a question uses few: rounding them costs more."""
_EMBEDDED = ("piece", "place", "part", "typed", "mark")


class _Graph:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.count = 0

    def constant(self, value: np.ndarray, name: str) -> str:
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def node(self, op: str, *inputs: str, **attributes: object) -> str:
        self.count += 1
        name = f"n{self.count}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def looked_up(self, table: np.ndarray, name: str) -> str:
        """The rows of a table, which is kept as integers."""
        integers, scales = rounded(table, _EMBEDDED_STEP)
        row = self.node("Gather", self.constant(integers, f"{name}.weight"), name)
        scale = self.node("Gather", self.constant(scales[:, None], f"{name}.scale"), name)
        return self.node("Mul", self.node("Cast", row, to=TensorProto.FLOAT), scale)

    def linear(self, x: str, weight: np.ndarray, bias: np.ndarray, name: str) -> str:
        product = self.node("MatMul", x, self.constant(np.ascontiguousarray(weight.T), f"{name}.weight"))
        return self.node("Add", product, self.constant(bias, f"{name}.bias"))

    def norm(self, x: str, weights: dict[str, np.ndarray], name: str) -> str:
        scale = self.constant(weights[f"{name}.weight"], f"{name}.scale")
        shift = self.constant(weights[f"{name}.bias"], f"{name}.shift")
        return self.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-12)


def rows_as_integers(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row as 8-bit integers and the number that one of them stands for."""
    scale = np.abs(value).max(axis=1) / 127
    scale[scale == 0] = 1
    return np.round(value / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def encoder_graph(w: dict[str, np.ndarray]) -> onnx.ModelProto:
    g = _Graph()
    x = g.looked_up(w["piece.weight"], "piece")
    for name in _EMBEDDED[1:]:
        x = g.node("Add", x, g.looked_up(w[f"{name}.weight"][: SIZE if name == "place" else None], name))
    x = g.norm(x, w, "norm")
    size = HIDDEN // HEADS
    heads = g.constant(np.array([0, HEADS, size], dtype=np.int64), "heads")
    whole = g.constant(np.array([0, HIDDEN], dtype=np.int64), "whole")
    scaled = g.constant(np.array(size**-0.5, dtype=np.float32), "scaled")
    for n in range(LAYERS):
        name = f"layers.{n}"
        weight = np.concatenate([w[f"{name}.{part}.weight"] for part in "qkv"])
        bias = np.concatenate([w[f"{name}.{part}.bias"] for part in "qkv"])
        joined = g.linear(x, weight, bias, f"{name}.qkv")
        g.count += 1
        parts = [f"n{g.count}{part}" for part in "qkv"]
        g.nodes.append(helper.make_node("Split", [joined], parts, axis=1, num_outputs=3))
        q, k, v = (g.node("Reshape", part, heads) for part in parts)
        q = g.node("Transpose", q, perm=[1, 0, 2])
        k = g.node("Transpose", k, perm=[1, 2, 0])
        v = g.node("Transpose", v, perm=[1, 0, 2])
        drawn = g.node("Softmax", g.node("Mul", g.node("MatMul", q, k), scaled), axis=-1)
        drawn = g.node("Transpose", g.node("MatMul", drawn, v), perm=[1, 0, 2])
        drawn = g.linear(
            g.node("Reshape", drawn, whole), w[f"{name}.o.weight"], w[f"{name}.o.bias"], f"{name}.o"
        )
        x = g.norm(g.node("Add", x, drawn), w, f"{name}.n1")
        inner = g.node("Gelu", g.linear(x, w[f"{name}.up.weight"], w[f"{name}.up.bias"], f"{name}.up"))
        inner = g.linear(inner, w[f"{name}.down.weight"], w[f"{name}.down.bias"], f"{name}.down")
        x = g.norm(g.node("Add", x, inner), w, f"{name}.n2")
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["length"]) for name in _EMBEDDED]
    output = helper.make_tensor_value_info("memory", TensorProto.FLOAT, ["length", HIDDEN])
    g.nodes.append(helper.make_node("Identity", [x], ["memory"]))
    graph = helper.make_graph(g.nodes, "encoder", inputs, [output], g.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def with_rounded(model: onnx.ModelProto, exact: dict[str, np.ndarray]) -> onnx.ModelProto:
    """The quantized model with weights that are rounded our way; `exact` holds the matrices by name."""
    for each in model.graph.initializer:
        name, end = each.name.rpartition("_")[0], each.name.rpartition("_")[2]
        if name in exact and end in {"quantized", "scale"}:
            counts, scales = rounded(exact[name].T)
            each.CopyFrom(
                numpy_helper.from_array(
                    np.ascontiguousarray(counts.T) if end == "quantized" else scales, each.name
                )
            )
    return model


def zipped(raw: bytes) -> bytes:
    """As `gzip` writes it, but without a search for repetitions, which weights do not have."""
    packing = zlib.compressobj(9, zlib.DEFLATED, 31, 9, zlib.Z_HUFFMAN_ONLY)
    return packing.compress(raw) + packing.flush()


def decoder_arrays(w: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Matrices as integers by rows; vectors as they are."""
    made: dict[str, np.ndarray] = {}
    for name, value in w.items():
        if name.split(".")[0] in {*_EMBEDDED, "norm", "layers"}:
            continue
        if value.ndim == 2:
            integers, scales = rows_as_integers(value)
            made[name], made[f"{name}:scale"] = integers, scales
        else:
            made[name] = value
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    weights = earlier_weights(args.weights)
    args.out.mkdir(parents=True, exist_ok=True)
    graph = encoder_graph(weights)
    matrices = {
        each.name: numpy_helper.to_array(each)
        for each in graph.graph.initializer
        if each.name.startswith("layers.")
    }
    with tempfile.TemporaryDirectory() as folder:
        exact, small = Path(folder) / "exact.onnx", Path(folder) / "small.onnx"
        onnx.save(graph, exact)
        quantize_dynamic(
            exact,
            small,
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"MatMulConstBOnly": True},
        )
        model = with_rounded(onnx.load(small), matrices)
    (args.out / "encoder.onnx.gz").write_bytes(zipped(model.SerializeToString()))
    np.savez_compressed(args.out / "decoder.npz", **decoder_arrays(weights))
    for path in sorted(args.out.iterdir()):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
