"""Where runs and their capsules are kept: the interface of a store, and its two databases, SQLite and Postgres."""
