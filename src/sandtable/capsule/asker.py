"""Who asked, as a capsule states it: a person by name, and nothing personal of anything else."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Asker(BaseModel):
    """Who asked, as stated by the server or the command that took the run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["person", "address", "local"]
    """`address`: a request without an identity, whose address is not recorded. `local`: the command line or the
    library."""
    name: str | None = Field(default=None, min_length=1, max_length=128)
    """Of a person: the name by which the server knows them."""

    @model_validator(mode="after")
    def _only_people_have_names(self) -> Self:
        if (self.kind == "person") != (self.name is not None):
            raise ValueError("a person has a name, and nothing else has one")
        return self

    @classmethod
    def of(cls, user: str) -> Asker:
        """`user` as runs are counted under."""
        if user == "local":
            return cls(kind="local")
        return cls(kind="address") if user.startswith("@") else cls(kind="person", name=user)

    @property
    def in_words(self) -> str:
        if self.kind == "person":
            return str(self.name)
        return (
            "the command line or the library" if self.kind == "local" else "an address that did not sign in"
        )
