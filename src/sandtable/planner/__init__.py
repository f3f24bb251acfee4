"""The built-in planner: a question in plain language becomes a plan or a clarifying question, without a chat model."""
