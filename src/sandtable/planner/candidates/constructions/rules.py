"""The rules, in their order.

Rules of `INSTEAD` run before the grammar, which misreads their words; those of `BESIDE` run where it has no answer.
"""

from __future__ import annotations

from sandtable.planner.candidates.constructions.construction import Rule
from sandtable.planner.candidates.constructions.durations import (
    how_long,
    in_units,
    time_between,
    took_longer,
)
from sandtable.planner.candidates.constructions.events import done, not_given, share_of_rows, undone
from sandtable.planner.candidates.constructions.nested import rows_of_one, share_of_top, so_often
from sandtable.planner.candidates.constructions.over_time import newcomers, on_weekends, periods_by_group
from sandtable.planner.candidates.constructions.relating import (
    column_against_column,
    correlation,
    correlation_of_columns,
    is_above,
)
from sandtable.planner.candidates.constructions.rewording import (
    added_up,
    best_selling,
    called_revenue,
    happiest,
    how_much_sold,
    meant_only,
    sold_most,
)

INSTEAD: tuple[Rule, ...] = (
    undone,
    took_longer,
    sold_most,
    best_selling,
    periods_by_group,
    share_of_top,
    is_above,
    on_weekends,
)
BESIDE: tuple[Rule, ...] = (
    in_units,
    share_of_rows,
    time_between,
    how_long,
    not_given,
    done,
    newcomers,
    correlation,
    correlation_of_columns,
    column_against_column,
    so_often,
    rows_of_one,
    happiest,
    how_much_sold,
    called_revenue,
    added_up,
    meant_only,
)
