"""How a question was read, as parts: each with the words it came from and what else it could be."""

from sandtable.agent.read_as.building import aligned, read_as
from sandtable.agent.read_as.model import Aligned, Choice, ReadAs, ReadPart, Said

__all__ = ["Aligned", "Choice", "ReadAs", "ReadPart", "Said", "aligned", "read_as"]
