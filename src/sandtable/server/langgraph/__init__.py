"""The LangGraph protocol, as far as chat interfaces use it (docs/langgraph.md): a wire over our conversations.

Only `conductor`, `history` and `postgres_checkpoints` load LangGraph; the routes do not, so that a server
listens before that library is there.
"""
