"""Proposals of a chat model in the plan language's own form, where their meaning is certain.

Small models understand a question and get the form wrong: a missing `table`, `{"column": x}` as a group key,
`last_6_months`. Each rule here rewrites one such form. Invariant: a rule applies only where one meaning is possible;
a plan that is valid comes back as it is; nothing raises, whatever the plan holds. Judging is left to the validator.
"""

from sandtable.agent.normalising.homes import table_problem
from sandtable.agent.normalising.known import Known, definitions
from sandtable.agent.normalising.plans import normalised

__all__ = ["Known", "definitions", "normalised", "table_problem"]
