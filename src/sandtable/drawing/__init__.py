"""Plain JavaScript modules that draw figures as SVG, for pages that load no library, and how a page holds them.

Invariant: the modules put text in as text, load nothing, and know no type name of an engine.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
MODULES = tuple(FOLDER / f"{name}.js" for name in ("format", "scale", "figure", "chart", "element", "marked"))
"""Each after those that it imports."""
