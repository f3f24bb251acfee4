"""The states of a conversation's graph, kept so that a turn costs what it adds and not what came before it."""
