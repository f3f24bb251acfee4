"""Images of a static program and nothing else, as OCI archives, without Docker or a registry."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_INDEX = "application/vnd.oci.image.index.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar"


def write_busybox(archive: Path, name: str, busybox: Path) -> None:
    """Entered with no arguments, it sleeps: that is what holds a pod's namespaces open."""
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    write(archive, name, busybox, ("sleep", "2147483647"), links=applets)


def write(archive: Path, name: str, program: Path, command: Sequence[str], links: Sequence[str] = ()) -> None:
    layer = _layer(program, links)
    config = {
        "architecture": ARCHITECTURES[platform.machine()],
        "os": "linux",
        "config": {"Env": ["PATH=/bin"], "Cmd": list(command), "User": "65532:65532"},
        "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
    }
    _write_archive(archive, name, json.dumps(config).encode(), layer)


def _layer(program: Path, links: Sequence[str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as layer:
        for folder in ("bin", "tmp", "proc", "dev", "sys", "etc"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            layer.addfile(entry)
        _add(layer, f"bin/{program.name}", program.read_bytes(), 0o755)
        for link in {Path(link).name for link in links} - {program.name}:
            entry = tarfile.TarInfo(f"bin/{link}")
            entry.type, entry.linkname = tarfile.SYMTYPE, program.name
            layer.addfile(entry)
    return buffer.getvalue()


def _write_archive(archive: Path, name: str, config: bytes, layer: bytes) -> None:
    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _described(_CONFIG, config),
            "layers": [_described(_LAYER, layer)],
        }
    ).encode()
    named = {**_described(_MANIFEST, manifest), "annotations": {"io.containerd.image.name": name}}
    index = {"schemaVersion": 2, "mediaType": _INDEX, "manifests": [named]}
    with tarfile.open(archive, "w") as tar:
        _add(tar, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        _add(tar, "index.json", json.dumps(index).encode())
        for blob in (config, layer, manifest):
            _add(tar, f"blobs/sha256/{_digest(blob).removeprefix('sha256:')}", blob)


def _described(kind: str, blob: bytes) -> dict[str, object]:
    return {"mediaType": kind, "digest": _digest(blob), "size": len(blob)}


def _digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"


def _add(tar: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    tar.addfile(entry, io.BytesIO(content))
