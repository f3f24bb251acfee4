from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kubernetes.chart.cases import CASES
from tests.kubernetes.chart.helm import Helm, Manifest


@pytest.fixture(scope="package")
def helm() -> Iterator[Helm]:
    with Helm() as helm:
        yield helm


@pytest.fixture(scope="package")
def rendered(helm: Helm) -> dict[str, list[Manifest]]:
    return {name: helm.manifests(values) for name, values in CASES.items()}


@pytest.fixture(params=CASES, scope="package")
def case(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def manifests(rendered: dict[str, list[Manifest]], case: str) -> list[Manifest]:
    """Of each case in turn."""
    return rendered[case]
