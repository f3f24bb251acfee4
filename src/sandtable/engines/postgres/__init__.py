"""PostgreSQL: which type of ours each of its types becomes. Queries are not sent to it."""
