"""What the conformance suite asks of a server under names that begin with `test_`, added to our own server.

Invariant: everything else that the suite asks is answered by the product: the route, the guard, the protocol, the
lists, caching, completion and errors.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

Context = ServerRequestContext[Any, Any]
Result = types.CallToolResult | types.InputRequiredResult

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
HEADED: dict[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
}


def text(words: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=words)], is_error=is_error)


def embedded(uri: str, words: str, kind: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=kind, text=words))


def image() -> types.ImageContent:
    return types.ImageContent(data=PNG, mime_type="image/png")


def form(message: str, field: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(words: str, most: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=words))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=most)
    )


def asks(requests: dict[str, Any], state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


SIMPLE: dict[str, Callable[[], types.CallToolResult]] = {
    "test_simple_text": lambda: text("This is a simple text response for testing."),
    "test_image_content": lambda: types.CallToolResult(content=[image()]),
    "test_audio_content": lambda: types.CallToolResult(
        content=[types.AudioContent(data=WAV, mime_type="audio/wav")]
    ),
    "test_embedded_resource": lambda: types.CallToolResult(
        content=[embedded("test://embedded-resource", "This is an embedded resource content.")]
    ),
    "test_multiple_content_types": lambda: types.CallToolResult(
        content=[
            types.TextContent(text="Multiple content types test:"),
            image(),
            embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
        ]
    ),
    "test_error_handling": lambda: text(
        "This tool intentionally returns an error for testing", is_error=True
    ),
    "test_logging_tool": lambda: text("Nothing is logged to clients."),
    "test_headers": lambda: text("The headers are right."),
    "json_schema_2020_12_tool": lambda: text("The schema is right."),
}
ASKING = (
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "test_streaming_elicitation",
    "test_missing_capability",
)
SCHEMAS = {"json_schema_2020_12_tool": SCHEMA_2020_12, "test_headers": HEADED}
NAMES = (*SIMPLE, "test_tool_with_progress", *ASKING)


async def called(ctx: Context, params: types.CallToolRequestParams) -> Result:
    if params.name in SIMPLE:
        return SIMPLE[params.name]()
    if params.name == "test_tool_with_progress":
        for done in (0, 50, 100):
            await ctx.session.report_progress(done, 100)
            await asyncio.sleep(0.05)
        return text("Done.")
    return asked(ctx, params)


def asked(ctx: Context, params: types.CallToolRequestParams) -> Result:
    gave, state = params.input_responses or {}, params.request_state
    able = ctx.session.client_capabilities or types.ClientCapabilities()
    match params.name.removeprefix("test_input_required_result_"):
        case "elicitation" | "test_streaming_elicitation":
            return _named(gave)
        case "sampling":
            answered = "capital_question" in gave
            return (
                text("Paris")
                if answered
                else asks({"capital_question": sampling("What is the capital of France?", 100)})
            )
        case "list_roots":
            found = gave.get("client_roots")
            return text(f"{found}") if found else asks({"client_roots": types.ListRootsRequest()})
        case "request_state" | "tampered_state":
            return (
                text("state-ok")
                if state and gave
                else asks({"confirm": form("Please confirm", "ok", "boolean")}, "kept")
            )
        case "multiple_inputs":
            wanted = {
                "user_name": form("What is your name?", "name"),
                "greeting": sampling("Generate a greeting", 50),
                "client_roots": types.ListRootsRequest(),
            }
            return text("All are here.") if wanted.keys() <= gave.keys() else asks(wanted, "kept")
        case "multi_round":
            if "step2" in gave:
                return text("Both steps are done.")
            if "step1" in gave:
                return asks({"step2": form("Step 2: What is your favorite color?", "color")}, "second")
            return asks({"step1": form("Step 1: What is your name?", "name")}, "first")
        case "capabilities":
            wanted = {"greeting": sampling("Generate a greeting", 50)} if able.sampling else {}
            wanted |= {"user_name": form("What is your name?", "name")} if able.elicitation else {}
            return text("Done.") if gave else asks(wanted)
        case _:
            needed = types.MissingRequiredClientCapabilityErrorData(
                required_capabilities=types.ClientCapabilities(sampling=types.SamplingCapability())
            )
            data = needed.model_dump(by_alias=True, exclude_none=True)
            raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "This needs sampling.", data)


def _named(gave: dict[str, Any]) -> Result:
    answer = gave.get("user_name")
    if (
        isinstance(answer, types.ElicitResult)
        and answer.content
        and isinstance(answer.content.get("name"), str)
    ):
        return text(f"Hello, {answer.content['name']}!")
    return asks({"user_name": form("What is your name?", "name")})


def read(uri: str) -> types.TextResourceContents | types.BlobResourceContents | None:
    if uri == "test://static-text":
        words = "This is the content of the static text resource."
        return types.TextResourceContents(uri=uri, mime_type="text/plain", text=words)
    if uri == "test://static-binary":
        return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    if uri == "test://template/123/data":
        words = '{"id":"123","templateTest":true,"data":"Data for ID: 123"}'
        return types.TextResourceContents(uri=uri, mime_type="application/json", text=words)
    return None


def prompted(
    params: types.GetPromptRequestParams,
) -> types.GetPromptResult | types.InputRequiredResult | None:
    given = params.arguments or {}
    parts: dict[str, list[types.ContentBlock]] = {
        "test_simple_prompt": [types.TextContent(text="This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            types.TextContent(
                text=f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"
            )
        ],
        "test_prompt_with_embedded_resource": [
            embedded(given.get("resourceUri", "test://none"), "Embedded resource content for testing."),
            types.TextContent(text="Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [image(), types.TextContent(text="Please analyze the image above.")],
        "test_input_required_result_prompt": [types.TextContent(text="With the context that was given.")],
    }
    if params.name == "test_input_required_result_prompt" and not params.input_responses:
        return asks({"user_context": form("What context should the prompt use?", "context")})
    found = parts.get(params.name)
    if found is None:
        return None
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=each) for each in found])


def with_fixtures(server: Server[Any]) -> Server[Any]:
    """Our server, which also answers for these names."""
    ours = {
        method: entry.handler
        for method in ("tools/list", "tools/call", "resources/read", "prompts/get")
        if (entry := server.get_request_handler(method)) is not None
    }

    async def list_tools(ctx: Context, params: Any) -> types.ListToolsResult:
        listed = await ours["tools/list"](ctx, params)
        assert isinstance(listed, types.ListToolsResult)
        added = [
            types.Tool(name=name, description=name, input_schema=SCHEMAS.get(name, EMPTY)) for name in NAMES
        ]
        return types.ListToolsResult(tools=[*listed.tools, *added])

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> Any:
        return await (called if params.name in NAMES else ours["tools/call"])(ctx, params)

    async def read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> Any:
        found = read(params.uri)
        if found is None:
            return await ours["resources/read"](ctx, params)
        return types.ReadResourceResult(contents=[found])

    async def get_prompt(ctx: Context, params: types.GetPromptRequestParams) -> Any:
        return prompted(params) or await ours["prompts/get"](ctx, params)

    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read_resource)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get_prompt)
    server.middleware.append(
        RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="fixtures")
    )
    return server
