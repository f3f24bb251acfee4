"""What may be answered: messages that are no question are stopped, and every plan is checked against the words.

No plan is answered while a word of the question is unbound: the user is asked about that word.
"""

from sandtable.planner.conscience.account import Account, Part, account, known_pieces
from sandtable.planner.conscience.ledger import Unbound
from sandtable.planner.conscience.quantities import directions
from sandtable.planner.conscience.questions import offers_at, reason_for, unclear_words

__all__ = [
    "Account",
    "Part",
    "Unbound",
    "account",
    "directions",
    "known_pieces",
    "offers_at",
    "reason_for",
    "unclear_words",
]
