"""The meaning of a message after an answer: edits of the previous plan, each bound to the words that ask for it."""

from sandtable.planner.dialogue.following import Followed, follow, is_fragment, points_back

__all__ = ["Followed", "follow", "is_fragment", "points_back"]
