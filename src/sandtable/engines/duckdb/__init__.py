"""DuckDB: its types, the rules its queries are judged by, its dialect. Never imports the engine itself."""
