"""Parts of a foreign document: fields of the types that its specification names, or an error with their place."""

from __future__ import annotations

from typing import Any, cast

from sandtable.errors import InvalidInput
from sandtable.quoting import quote


class Part:
    """An object of the document, and where it is."""

    def __init__(self, content: Any, place: str) -> None:
        if not isinstance(content, dict):
            raise misshapen(place, "fields")
        self.content = cast(dict[str, Any], content)
        self.place = place

    def text(self, name: str) -> str:
        """Empty where it is absent."""
        found = self.content.get(name)
        if found is None:
            return ""
        if isinstance(found, bool | int | float):
            return str(found)
        if not isinstance(found, str):
            raise misshapen(f"{self.place}.{name}", "a text")
        return found

    def name(self) -> str:
        found = self.text("name")
        if not found:
            raise misshapen(f"{self.place}.name", "a text")
        return found

    def listed(self, name: str) -> list[Any]:
        found = self.content.get(name)
        if found is None:
            return []
        if not isinstance(found, list):
            raise misshapen(f"{self.place}.{name}", "a list")
        return cast(list[Any], found)

    def texts(self, name: str) -> list[str]:
        found = self.listed(name)
        if not all(isinstance(each, str | int | float) for each in found):
            raise misshapen(f"{self.place}.{name}", "texts")
        return [str(each) for each in found]

    def parts(self, name: str) -> list[Part]:
        return [Part(each, f"{self.place}.{name}[{at}]") for at, each in enumerate(self.listed(name))]

    def part(self, name: str) -> Part:
        """Empty where it is absent."""
        return Part(self.content.get(name) or {}, f"{self.place}.{name}")


def misshapen(place: str, needed: str) -> InvalidInput:
    return InvalidInput(
        f"{quote(place.lstrip('.'), 200)}: {needed} must be there",
        suggestion="Correct that place of the file, or export the model again where it comes from.",
    )
