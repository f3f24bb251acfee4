"""`POST /v2/query` and `WS /v2/stream/{session_id}`: ask, and watch the answer being worked out as typed messages."""
