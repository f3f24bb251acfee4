"""SQL that found nothing, explained in the real sandbox: read by the gate, counted by runs, corrected."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from sandtable.assemble import Parts, assemble
from sandtable.capsule.query import SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.runs.empty import explained, found_nothing
from sandtable.runs.explanation import Explanation
from sandtable.runs.lookup import executing
from sandtable.runs.model import Run, RunRequest
from sandtable.settings import Settings

pytestmark = [pytest.mark.needs("userns"), pytest.mark.asyncio(loop_scope="module")]

CITIES = ("München", "Berlin", "Köln")


def sales() -> str:
    lines = [
        f"{n},{CITIES[n % 3]},{'paid' if n % 2 else 'open'},code-{n:04},{n * 1.5},{1 + n % 4}"
        for n in range(1, 3001)
    ]
    return "\n".join(["sale_id,city,status,code,amount,branch_id", *lines]) + "\n"


BRANCHES = "branch_id,country,boss\n1,Germany,Ann\n2,France,Berlin\n3,Spain,Bob\n4,Italy,Cy\n"


@dataclass
class World:
    parts: Parts
    dataset: Dataset
    profile: Profile

    async def run(self, sql: str) -> Run:
        accepted = await self.parts.runs.submit(RunRequest(dataset_id=self.dataset.id, query=SqlQuery(sql)))
        return await self.parts.runs.wait(accepted.id)

    async def explain(self, sql: str) -> Explanation:
        run = await self.run(sql)
        assert run.status == "succeeded" and found_nothing(run, self.dataset), run
        execute = executing(self.parts.runs, self.dataset.id, "local")
        return await explained(
            run, self.dataset, self.profile, execute, self.parts.check, self.parts.read_sql
        )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    folder = tmp_path_factory.mktemp("files")
    paths = [folder / "sales.csv", folder / "branches.csv"]
    for path, text in zip(paths, (sales(), BRANCHES), strict=True):
        path.write_text(text, encoding="utf-8")
    async with assemble(Settings(home=tmp_path_factory.mktemp("home"), standby=0, presealed=0)) as parts:
        dataset = await parts.datasets.add_files(paths)
        yield World(parts, dataset, await parts.datasets.profile(dataset))


async def test_the_condition_and_the_value_that_no_row_has(world: World) -> None:
    sql = "SELECT sum(amount) AS total FROM sales WHERE status = 'paid' AND city = 'Munchen'"
    why = await world.explain(sql)
    assert why.text == (
        "Of 3,000 rows of `sales`, 1,500 are left where `status = 'paid'`, and none of these where "
        "`city = 'Munchen'`. No row has `Munchen` as city. Near `Munchen`: `München`."
    )
    [fix] = why.fixes
    assert (fix.title, fix.text) == ("Use `München` for `Munchen`", sql.replace("Munchen", "München"))
    assert (await world.run(sql.replace("Munchen", "München"))).rows != ((None,),)
    [counted] = why.run_ids
    run = await world.parts.runs.get(counted)
    assert run.rows == ((3000, 1500, 0),) and isinstance(run.request.query, SqlQuery)
    report = await world.parts.verify(await world.parts.runs.capsule(counted))
    assert report.ok


async def test_a_value_that_another_column_holds(world: World) -> None:
    sql = "SELECT sale_id FROM sales s JOIN branches b USING (branch_id) WHERE b.country = 'Berlin'"
    why = await world.explain(sql)
    assert why.text.endswith(
        "No row has `Berlin` as country. `branches.boss` and `sales.city` have `Berlin`."
    )
    assert [(fix.title, fix.text) for fix in why.fixes] == [
        ("Look for `Berlin` in `boss`", sql.replace("b.country", "b.boss")),
        ("Look for `Berlin` in `sales.city`", sql.replace("b.country", "s.city")),
    ]


async def test_what_the_profile_does_not_list_is_looked_up_by_runs(world: World) -> None:
    why = await world.explain("SELECT * FROM sales WHERE code IN ('code-12345') LIMIT 3")
    assert "No row has `code-12345` as code. Near `code-12345`: `code-1234`" in why.text
    assert len(why.run_ids) == 3, "one counts the conditions, one the value, and one finds the values near it"
    assert why.fixes[0].text == "SELECT * FROM sales WHERE code IN ('code-1234') LIMIT 3"
    held = await world.explain("SELECT * FROM sales WHERE code = 'code-1234' AND amount < 0 LIMIT 3")
    assert held.text == (
        "Of 3,000 rows of `sales`, 1 is left where `code = 'code-1234'`, and none of these where `amount < 0`."
    )


async def test_the_query_that_a_query_reads_is_what_is_empty(world: World) -> None:
    why = await world.explain(
        "WITH paid AS (SELECT * FROM sales WHERE status = 'paid'), "
        "dear AS (SELECT * FROM paid WHERE amount > 1e9) SELECT count(*) FROM dear WHERE city LIKE 'M%'"
    )
    assert why.text == "Of 1,500 rows, none is left where `amount > 1e9`."
    assert len(why.run_ids) == 2


async def test_a_like_that_matches_nothing_and_groups_that_pass_nothing(world: World) -> None:
    like = await world.explain(
        "SELECT city FROM sales WHERE city NOT LIKE 'x%' AND city ILIKE 'z%' GROUP BY 1"
    )
    assert like.text == (
        "Of 3,000 rows of `sales`, 3,000 are left where `city NOT LIKE 'x%'`, and none of these where "
        "`city ILIKE 'z%'`."
    )
    having = await world.explain(
        "SELECT city FROM sales WHERE status = 'open' GROUP BY 1 HAVING count(*) > 9999"
    )
    assert having.text.endswith(
        "1,500 are left where `status = 'open'`, but no group passes `count(*) > 9999`."
    )


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("SELECT min(0) FROM sales WHERE city = 'Berlin'", id="zero over rows"),
        pytest.param("SELECT 0 AS n FROM sales WHERE city = 'Berlin' LIMIT 1", id="a row"),
        pytest.param("SELECT city FROM sales LIMIT 0", id="no conditions"),
        pytest.param("SELECT city FROM sales WHERE city = 'Berlin' LIMIT 0", id="a limit"),
        pytest.param("SELECT amount * 2 AS twice FROM sales WHERE twice < 0 LIMIT 3", id="an alias"),
    ],
)
async def test_what_has_no_explanation_gets_none(world: World, sql: str) -> None:
    why = await world.explain(sql)
    assert (why.text, why.fixes) == ("", ())
