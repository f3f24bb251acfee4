"""The last word on a plan: nothing is answered while a word of the question is bound to nothing."""

from sandtable.planner.conscience.account import Account, Part, account
from sandtable.planner.conscience.ledger import Unbound
from sandtable.planner.conscience.quantities import directions
from sandtable.planner.conscience.questions import blamed_word, offers_at, reason_for

__all__ = ["Account", "Part", "Unbound", "account", "blamed_word", "directions", "offers_at", "reason_for"]
