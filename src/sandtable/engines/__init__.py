"""Facts about the query engines: one folder per engine, pure data and pure functions."""
