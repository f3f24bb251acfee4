"""The conversation: one LangGraph graph that proposes, validates, runs, repairs and answers."""
