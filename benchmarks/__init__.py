"""How fast and how frugal the sandbox is, beside in-process DuckDB, a plain subprocess and its peers."""
