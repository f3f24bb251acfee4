"""Every route and protocol, and who gets what from it where a proxy names people. A route that is not here fails the
test. What people and keys get where there are accounts follows from it (`identities`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Rule = Literal[
    "everyone",  # answers all alike
    "list",  # answers all, with what each may see
    "thread", "run", "dataset", "question", "board",  # may be read by those with whom it is shared
    "change thread", "change run", "change dataset", "remove dataset",
    "change question", "change board",  # is refused to those who may read
    "own",  # is never shared: uploads, imports and connected databases
    "administrator",  # is refused to all but an administrator, also where there are no accounts
    "administration",  # is refused to all but an administrator, who learns that there are no accounts
    "hidden",  # is there for none of them: turns that no A2A client began, and accounts where there are none
]  # fmt: skip

WHO = ("anonymous", "other", "team", "team, shared", "team, to edit", "owner", "admin")
ALLOWED, HIDDEN, REFUSED = "allowed", "hidden", "refused"
EXPECTED: dict[Rule, tuple[str, ...]] = {
    "everyone": (ALLOWED,) * 7,
    "list": (ALLOWED,) * 7,
    "thread": (HIDDEN, HIDDEN, HIDDEN, ALLOWED, ALLOWED, ALLOWED, ALLOWED),
    "run": (HIDDEN, HIDDEN, HIDDEN, ALLOWED, ALLOWED, ALLOWED, ALLOWED),
    "dataset": (HIDDEN, HIDDEN, HIDDEN, ALLOWED, ALLOWED, ALLOWED, ALLOWED),
    "question": (HIDDEN, HIDDEN, HIDDEN, ALLOWED, ALLOWED, ALLOWED, ALLOWED),
    "board": (HIDDEN, HIDDEN, HIDDEN, ALLOWED, ALLOWED, ALLOWED, ALLOWED),
    "change question": (HIDDEN, HIDDEN, HIDDEN, REFUSED, REFUSED, ALLOWED, ALLOWED),
    "change board": (HIDDEN, HIDDEN, HIDDEN, REFUSED, REFUSED, ALLOWED, ALLOWED),
    "change thread": (HIDDEN, HIDDEN, HIDDEN, REFUSED, REFUSED, ALLOWED, ALLOWED),
    "change run": (HIDDEN, HIDDEN, HIDDEN, REFUSED, REFUSED, ALLOWED, ALLOWED),
    "change dataset": (HIDDEN, HIDDEN, HIDDEN, REFUSED, ALLOWED, ALLOWED, ALLOWED),
    "remove dataset": (HIDDEN, HIDDEN, HIDDEN, REFUSED, REFUSED, ALLOWED, ALLOWED),
    "administration": (*(REFUSED,) * 6, HIDDEN),
    "administrator": (*(REFUSED,) * 6, ALLOWED),
    "hidden": (HIDDEN,) * 7,
    "own": (HIDDEN, HIDDEN, HIDDEN, HIDDEN, HIDDEN, ALLOWED, ALLOWED),
}

Ids = dict[str, str]


@dataclass(frozen=True)
class Case:
    rule: Rule
    route: str
    """Method and path, as the application has it."""
    path: str = ""
    """With the names of `Things.ids` in braces; the path of the route where that has these names."""
    body: Callable[[Ids], Any] | None = None
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes | None = None
    lists: str = ""
    """Of a list: the thing that those find in it who may see it."""
    consumes: bool = False
    """Whether an allowed request changes the things, so that the next one needs others."""

    @property
    def method(self) -> str:
        return self.route.partition(" ")[0]

    def address(self, ids: Ids) -> str:
        path = self.path or self.route.partition(" ")[2]
        for name, given in _NAMES.items():
            path = path.replace("{" + name + "}", "{" + given + "}")
        return path.format(**ids)


_NAMES = {
    "dataset_id": "dataset", "thread_id": "thread", "import_id": "import", "upload_id": "upload",
    "file_id": "file", "checkpoint_id": "checkpoint", "session_id": "thread", "assistant_id": "dataset",
    "question_id": "question", "board_id": "board",
}  # fmt: skip
_T = "/langgraph/threads/{thread_id}"
_TUS = (("Tus-Resumable", "1.0.0"),)
_JSON_SQL: dict[str, Any] = {"dataset_id": "shop", "sql": "SELECT 1"}


def _turn(ids: Ids) -> dict[str, Any]:
    return {"assistant_id": "shop", "input": {"messages": [{"type": "human", "content": "hm"}]}}


def _checkpoint(ids: Ids) -> dict[str, Any]:
    return {"checkpoint": {"checkpoint_id": ids["checkpoint"]}}


def _nothing(ids: Ids) -> dict[str, Any]:
    return {}


def _tile(ids: Ids) -> dict[str, Any]:
    return {"id": "t", "question_id": ids["question"], "x": 0, "y": 0, "w": 6, "h": 4}


def _runs(rule: Rule, method: str, rest: str = "") -> Case:
    return Case(rule, f"{method} /runs/{{run_id}}{rest}", f"/runs/{{run}}{rest}")


def _of_turn(rule: Rule, method: str, rest: str = "") -> Case:
    path = f"{_T}/runs/{{run_id}}{rest}"
    return Case(rule, f"{method} {path}", path.replace("{run_id}", "{turn}"))


_SHARED: tuple[tuple[Rule, str], ...] = (
    ("change thread", "thread"),
    ("change run", "run"),
    ("remove dataset", "dataset"),
    ("change question", "question"),
    ("change board", "board"),
)

CASES: tuple[Case, ...] = (
    # What is the same for all
    *(
        Case("everyone", f"GET {path}")
        for path in (
            "/openapi.json",
            "/plan/schema",
            "/keys",
            "/shares",
            "/healthz",
            "/readyz",
            "/metrics",
            "/docs",
            "/langgraph/ok",
            "/langgraph/info",
            "/chat",
        )
    ),
    Case("everyone", "OPTIONS /uploads"),
    Case("everyone", "POST /langgraph/ui/{assistant_id}", body=lambda ids: {"name": "answer"}),
    Case("everyone", "GET /langgraph/genui/{module}", "/langgraph/genui/view.js"),
    Case("everyone", "GET /chat/{path:path}", "/chat/logo.svg"),
    # What makes something of one's own
    Case("everyone", "POST /runs", body=lambda ids: _JSON_SQL),
    Case("everyone", "POST /check", body=lambda ids: _JSON_SQL),
    Case("everyone", "POST /verify", body=_nothing),
    Case("everyone", "POST /chat", body=lambda ids: {"dataset_id": "shop", "message": "hm"}),
    Case("everyone", "POST /v2/query", body=lambda ids: {"dataset_name": "shop", "query": "hm"}),
    Case("everyone", "POST /langgraph/threads", body=_nothing),
    Case("everyone", "POST /imports", body=lambda ids: {"text": "a,b\n1,2\n", "name": "pasted"}),
    Case(
        "everyone",
        "POST /uploads",
        headers=(*_TUS, ("Upload-Length", "3"), ("Upload-Metadata", "filename YS5jc3Y=")),
    ),
    Case(
        "everyone",
        "POST /upload",
        headers=(("Content-Type", "multipart/form-data; boundary=b"),),
        content=b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na\n1\n\r\n--b--\r\n',
    ),
    # What an agent of another protocol says; who asks is judged as for every other turn and run
    Case("everyone", "POST /a2a", body=_nothing),
    Case("everyone", "POST /a2a/{rest:path}", "/a2a/message:send", body=_nothing),
    Case("everyone", "POST /agui", body=_nothing),
    Case("everyone", "POST /mcp", body=_nothing),
    Case("list", "GET /.well-known/agent-card.json", lists="dataset"),
    Case("hidden", "GET /a2a/{rest:path}", "/a2a/tasks/{turn}", headers=(("A2A-Version", "1.0"),)),
    Case("hidden", "DELETE /a2a/{rest:path}", "/a2a/nothing"),
    # Accounts, which a server without them does not have
    Case("everyone", "GET /me"),
    Case("everyone", "GET /login/page.js"),
    Case("everyone", "GET /login/password.js"),
    *(
        Case(
            "administration" if path.startswith(("/teams", "/users")) else "hidden",
            route,
            path.format(name="x", user="x", key_id="x", session_id="x"),
            body=_nothing,
        )
        for method, path in (
            ("DELETE", "/me/keys/{key_id}"),
            ("DELETE", "/me/sessions"),
            ("DELETE", "/me/sessions/{session_id}"),
            ("DELETE", "/teams/{name}"),
            ("DELETE", "/teams/{name}/members/{user}"),
            ("DELETE", "/users/{name}"),
            ("DELETE", "/users/{name}/keys/{key_id}"),
            ("DELETE", "/users/{name}/sessions"),
            ("GET", "/login"),
            ("GET", "/login/oidc"),
            ("GET", "/login/password"),
            ("GET", "/login/oidc/callback"),
            ("GET", "/me/keys"),
            ("GET", "/me/sessions"),
            ("GET", "/teams"),
            ("GET", "/users"),
            ("GET", "/users/{name}/keys"),
            ("GET", "/users/{name}/sessions"),
            ("PATCH", "/users/{name}"),
            ("POST", "/login"),
            ("POST", "/logout"),
            ("POST", "/me/keys"),
            ("POST", "/teams"),
            ("POST", "/users"),
            ("PUT", "/me/password"),
            ("PUT", "/teams/{name}/members/{user}"),
        )
        for route in (f"{method} {path}",)
    ),
    # Lists
    Case("list", "GET /datasets", lists="dataset"),
    Case("list", "GET /runs", lists="run"),
    Case("list", "GET /imports"),
    Case("list", "GET /files", lists="file"),
    Case("list", "GET /database"),
    Case("list", "GET /", lists="dataset"),
    Case("list", "GET /chat/"),
    Case("list", "POST /langgraph/assistants/search", body=lambda ids: {"limit": 1000}, lists="dataset"),
    Case("list", "POST /langgraph/assistants/count", body=_nothing),
    Case("list", "POST /langgraph/threads/search", body=lambda ids: {"limit": 1000}, lists="thread"),
    Case("list", "POST /langgraph/threads/count", body=_nothing),
    # Runs
    _runs("run", "GET"),
    *(_runs("run", "GET", rest) for rest in ("/result.csv", "/result.json", "/chart", "/capsule")),
    Case("run", "GET /runs/{run_id}/export/{form}", "/runs/{run}/export/page"),
    Case("run", "GET /runs/{run_id}/result.parquet", "/runs/{run}/result.parquet"),
    _runs("run", "POST", "/verify"),
    Case("run", "GET /runs/{run_id}", "/runs/{thread_run}"),
    Case("run", "GET /runs/{run_id}/capsule", "/runs/{thread_run}/capsule"),
    _runs("run", "POST", "/explain"),
    _runs("change run", "POST", "/cancel"),
    # Kept questions and boards
    Case("list", "GET /questions", lists="question"),
    Case("list", "GET /boards", lists="board"),
    Case("run", "POST /questions", body=lambda ids: {"run_id": ids["run"], "name": "Mine"}),
    Case("everyone", "POST /boards", body=lambda ids: {"name": "Mine"}),
    Case("question", "POST /boards", body=lambda ids: {"name": "Mine", "tiles": [_tile(ids)]}),
    Case("question", "GET /questions/{question_id}"),
    Case("question", "POST /questions/{question_id}/run", body=_nothing),
    Case("change question", "PATCH /questions/{question_id}", body=lambda ids: {"before": 9, "name": "x"}),
    Case("change question", "DELETE /questions/{question_id}", consumes=True),
    Case("board", "GET /boards/{board_id}"),
    Case("board", "GET /boards/{board_id}/results"),
    Case(
        "board", "POST /boards/{board_id}/tiles/{tile_id}/run", "/boards/{board}/tiles/t/run", body=_nothing
    ),
    Case("change board", "PUT /boards/{board_id}", body=lambda ids: {"before": 9, "name": "x"}),
    Case("change board", "DELETE /boards/{board_id}", consumes=True),
    # Datasets
    *(
        Case("dataset", f"GET /datasets/{{dataset_id}}{rest}")
        for rest in (
            "",
            "/schema",
            "/profile",
            "/reading",
            "/meanings",
            "/catalog.yaml",
            "/catalog",
            "/proposals",
        )
    ),
    *(
        Case("dataset", f"GET /langgraph/assistants/{{assistant_id}}{rest}")
        for rest in ("", "/graph", "/schemas")
    ),
    Case("dataset", "POST /runs", body=lambda ids: {**_JSON_SQL, "dataset_id": ids["dataset"]}),
    Case("dataset", "POST /check", body=lambda ids: {**_JSON_SQL, "dataset_id": ids["dataset"]}),
    Case("dataset", "POST /chat", body=lambda ids: {"dataset_id": ids["dataset"], "message": "hm"}),
    Case("dataset", "POST /v2/query", body=lambda ids: {"dataset_name": ids["dataset"], "query": "hm"}),
    Case(
        "change dataset",
        "PUT /datasets/{dataset_id}/catalog",
        body=lambda ids: {"fiscal_year_start": "april"},
        consumes=True,
    ),
    Case(
        "change dataset",
        "PATCH /datasets/{dataset_id}/catalog",
        body=lambda ids: {"before": ids["catalog_version"], "changes": {"title": "Other"}},
        consumes=True,
    ),
    Case(
        "change dataset",
        "POST /datasets/{dataset_id}/catalog/restore",
        body=lambda ids: {"before": ids["catalog_version"], "version": ids["catalog_version"]},
        consumes=True,
    ),
    Case(
        "change dataset",
        "PUT /datasets/{dataset_id}/catalog.yaml",
        headers=(("Content-Type", "text/yaml"),),
        content=b"title: Other\n",
        consumes=True,
    ),
    Case(
        "change dataset",
        "PATCH /datasets/{dataset_id}/reading",
        body=lambda ids: {"answers": {"day": "text"}},
        consumes=True,
    ),
    Case(
        "change dataset",
        "POST /imports",
        body=lambda ids: {"text": "a,b\n1,2\n", "name": "more", "dataset_id": ids["dataset"]},
        consumes=True,
    ),
    Case("remove dataset", "DELETE /files/{file_id}", consumes=True),
    Case("remove dataset", "DELETE /datasets/{dataset_id}", consumes=True),
    # Threads
    *(Case("thread", f"GET {_T}{rest}") for rest in ("", "/history", "/state", "/state/{checkpoint_id}")),
    Case("thread", f"POST {_T}/history", body=_nothing),
    Case("thread", f"POST {_T}/state/checkpoint", body=_checkpoint),
    Case("thread", f"GET {_T}/runs"),
    Case("thread", "GET /threads/{thread_id}/export/{form}", "/threads/{thread}/export/markdown"),
    *(_of_turn("thread", "GET", rest) for rest in ("", "/stream", "/join")),
    Case("thread", "WS /v2/stream/{session_id}"),
    _of_turn("change thread", "POST", "/cancel"),
    Case("change thread", f"PATCH {_T}", body=lambda ids: {"metadata": {"a": 1}}),
    Case("change thread", f"POST {_T}/state", body=lambda ids: {"values": {"messages": ["hm"]}}),
    *(Case("change thread", f"POST {_T}/runs{rest}", body=_turn) for rest in ("", "/stream", "/wait")),
    Case("change thread", "POST /chat", body=lambda ids: {"thread_id": ids["thread"], "message": "hm"}),
    Case(
        "change thread",
        "POST /v2/query",
        body=lambda ids: {"session_id": ids["thread"], "dataset_name": "shop", "query": "hm"},
    ),
    Case("change thread", f"DELETE {_T}", consumes=True),
    # Shares
    Case("thread", "GET /shares/{kind}/{thing_id}", "/shares/thread/{thread}"),
    Case("run", "GET /shares/{kind}/{thing_id}", "/shares/run/{run}"),
    Case("dataset", "GET /shares/{kind}/{thing_id}", "/shares/dataset/{dataset}"),
    Case("question", "GET /shares/{kind}/{thing_id}", "/shares/question/{question}"),
    Case("board", "GET /shares/{kind}/{thing_id}", "/shares/board/{board}"),
    *(
        Case(
            rule,
            "PUT /shares/{kind}/{thing_id}",
            f"/shares/{kind}/{{{kind}}}",
            body=lambda ids: {"recipient": "person", "name": "dora"},
        )
        for rule, kind in _SHARED
    ),
    *(
        Case(
            rule,
            "DELETE /shares/{kind}/{thing_id}",
            f"/shares/{kind}/{{{kind}}}?recipient=person&name=dora",
        )
        for rule, kind in _SHARED
    ),
    # What is never shared
    Case("own", "GET /uploads/{upload_id}"),
    Case(
        "own",
        "PATCH /uploads/{upload_id}",
        headers=(*_TUS, ("Upload-Offset", "0"), ("Content-Type", "application/offset+octet-stream")),
        content=b"a",
        consumes=True,
    ),
    Case("own", "DELETE /uploads/{upload_id}", headers=_TUS, consumes=True),
    Case("own", "GET /imports/{import_id}"),
    Case("own", "POST /imports/{import_id}/answers", body=lambda ids: {"answers": {"day": "text"}}),
    Case("own", "DELETE /imports/{import_id}", consumes=True),
    # The hosts of these answer nothing, which is said. The second one is not listed for everyone.
    Case("own", "GET /database/{name}", "/database/{database}"),
    Case(
        "administrator",
        "POST /database",
        body=lambda ids: {"url": "postgresql://r@127.0.0.2:1/x", "name": "x"},
    ),
    Case(
        "own",
        "POST /database/{name}/snapshot",
        "/database/{database}/snapshot",
        body=lambda ids: {"tables": ["orders"]},
    ),
    Case(
        "own",
        "POST /database/{name}/live",
        "/database/{database}/live",
        body=lambda ids: {"tables": ["orders"]},
    ),
    Case("own", "DELETE /database/{name}", "/database/{database}", consumes=True),
)
