"""The bill of materials of an image, as CycloneDX 1.6. The same files always give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from collect.debian import DebianPackage

Component = dict[str, Any]


def bill(image: str, version: str, components: Iterable[Component]) -> str:
    unique = {component["bom-ref"]: component for component in components}
    listed = [unique[ref] for ref in sorted(unique)]
    subject = f"image:{image}@{version}"
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {"type": "container", "bom-ref": subject, "name": image, "version": version}
        },
        "components": listed,
        "dependencies": [{"ref": subject, "dependsOn": [component["bom-ref"] for component in listed]}],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def of_debian(package: DebianPackage, release: str) -> Component:
    version = quote(package.version, safe="")
    purl = f"pkg:deb/debian/{package.name}@{version}?arch={package.architecture}&distro={release}"
    return _component("library", package.name, package.version, purl)


def of_python(name: str, version: str, license: str | None) -> Component:
    """`license` is an SPDX expression, where the package states one."""
    component = _component("library", name, version, f"pkg:pypi/{name}@{quote(version, safe='')}")
    if license:
        component["licenses"] = [{"expression": license}]
    return component


def of_npm(lock: Path) -> list[Component]:
    """What a web interface is bundled from: its lock without what only builds or tests it."""
    components: list[Component] = []
    for place, entry in json.loads(lock.read_text(encoding="utf-8"))["packages"].items():
        if not place or entry.get("dev") or entry.get("link"):
            continue
        name, version = entry.get("name", place.rpartition("node_modules/")[2]), entry["version"]
        purl = f"pkg:npm/{quote(name, safe='/')}@{quote(version, safe='')}"
        components.append(_component("library", name, version, purl))
    return components


def of_dataset(name: str, version: str) -> Component:
    return {"type": "data", "bom-ref": f"dataset:{name}", "name": name, "version": version}


def of_program(name: str, version: str) -> Component:
    return _component("application", name, version, f"pkg:generic/{name}@{quote(version, safe='')}")


def _component(kind: str, name: str, version: str, purl: str) -> Component:
    return {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}
