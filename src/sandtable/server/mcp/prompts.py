"""Prompts that a person can pick in their client: questions about each dataset, a tour of it, and a verification."""

from __future__ import annotations

import mcp_types as types

from sandtable.catalog.model import Dataset
from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import quote
from sandtable.server.mcp.budget import shortened
from sandtable.server.mcp.place import Caller

MOST_DATASETS = 50
MOST_COMPLETED = 100
_ABOUT = "about-"
_LONGEST = 2_000


def listed(caller: Caller) -> list[types.Prompt]:
    about = [_about(dataset, caller.examples(dataset)) for dataset in caller.datasets()[:MOST_DATASETS]]
    return [
        types.Prompt(
            name="explore",
            title="Explore a dataset",
            description="What a dataset holds, and what can be asked about it.",
            arguments=[types.PromptArgument(name="dataset_id", description="Its id.", required=True)],
        ),
        types.Prompt(
            name="verify",
            title="Verify an answer",
            description="Derive a run again, and explain what was checked.",
            arguments=[types.PromptArgument(name="run_id", description="The id of the run.", required=True)],
        ),
        *about,
    ]


def _about(dataset: Dataset, prompts: tuple[str, ...]) -> types.Prompt:
    title = dataset.title or dataset.id
    examples = " ".join(prompts[:3])
    return types.Prompt(
        name=_ABOUT + dataset.id,
        title=f"Ask about {title}",
        description=f"For example: {examples}" if examples else f"A question about {title}.",
        arguments=[
            types.PromptArgument(
                name="question",
                description="In plain words; its first example when left out.",
                required=not prompts,
            )
        ],
    )


async def made(caller: Caller, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
    """Raises NotFound, InvalidInput."""
    if name == "explore":
        dataset = caller.dataset(_required(arguments, "dataset_id"))
        return _prompt(
            f"Use describe_dataset to look at the Sandtable dataset {quote(dataset.id)}. Say in a few lines what it "
            "holds, then ask two of its example questions with `ask`, and say how each was read."
        )
    if name == "verify":
        run_id = _required(arguments, "run_id")
        return _prompt(
            f"Verify the Sandtable run {quote(run_id)} with verify_run. Say which links of its capsule hold, which do "
            "not, and what that means for the answer."
        )
    if not name.startswith(_ABOUT):
        raise NotFound(f"no prompt {quote(name)}", suggestion="`prompts/list` lists them.")
    dataset = caller.dataset(name.removeprefix(_ABOUT))
    question = arguments.get("question") or next(iter(caller.examples(dataset)), "")
    if not question:
        raise InvalidInput("`question` is missing", suggestion="Ask something about the dataset.")
    return _prompt(
        f"Answer with Sandtable's `ask` (dataset_id {quote(dataset.id)}): {shortened(question, _LONGEST)}\n\n"
        "Give the answer, how the question was read, and the id of its run."
    )


def _required(arguments: dict[str, str], name: str) -> str:
    if not arguments.get(name):
        raise InvalidInput(f"`{name}` is missing", suggestion="Give it as an argument.", field=name)
    return shortened(arguments[name], 128)


def _prompt(text: str) -> types.GetPromptResult:
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(messages=[message])


def completed(caller: Caller, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Ids of datasets, and the example questions of one."""
    begun = params.argument.value.casefold()
    fitting = [each for each in _known(caller, params) if begun in each.casefold()]
    return types.CompleteResult(
        completion=types.Completion(
            values=fitting[:MOST_COMPLETED], total=len(fitting), has_more=len(fitting) > MOST_COMPLETED
        )
    )


def _known(caller: Caller, params: types.CompleteRequestParams) -> list[str]:
    if params.argument.name == "dataset_id":
        return [dataset.id for dataset in caller.datasets()]
    if params.argument.name == "question" and isinstance(params.ref, types.PromptReference):
        return [
            prompt
            for dataset in caller.datasets()
            if params.ref.name == _ABOUT + dataset.id
            for prompt in caller.examples(dataset)
        ]
    return []
