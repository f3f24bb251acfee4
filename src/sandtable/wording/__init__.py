"""Plans and results in words: how a question was read, and the sentence that answers it."""

from sandtable.wording.answer import answer_of
from sandtable.wording.overall import wants_overall
from sandtable.wording.reading import reading_of

__all__ = ["answer_of", "reading_of", "wants_overall"]
