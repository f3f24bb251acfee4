"""The shipped weigher: its trees fit the features, and its probabilities are probabilities."""

from __future__ import annotations

import pytest

from sandtable.planner.ranking.features import NAMES
from sandtable.planner.ranking.weigher import Weigher, the_weigher


def test_it_gives_probabilities() -> None:
    weigher = the_weigher()
    nothing = weigher.probability([0.0] * len(NAMES))
    sure = dict.fromkeys(NAMES, 0.0) | {"likelihood": 0.99, "weakest": 0.99, "lead": 0.98, "grammar": 0.98}
    assert 0 < nothing < weigher.probability(list(sure.values())) < 1


def test_words_that_nothing_explains_make_a_plan_less_likely() -> None:
    weigher = the_weigher()
    plain = dict.fromkeys(NAMES, 0.0) | {"likelihood": 0.8, "weakest": 0.8, "lead": 0.7}
    doubtful = plain | {"unbound_words": 3.0, "unbound_hard": 2.0, "unasked": 2.0}
    assert weigher.probability(list(doubtful.values())) < weigher.probability(list(plain.values()))


def test_trees_of_other_features_are_refused() -> None:
    with pytest.raises(ValueError, match="other features"):
        Weigher.of({"features": ["x"], "base": 0, "slope": 1, "offset": 0, "trees": []})
