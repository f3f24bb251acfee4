"""What a worker does with a PostgreSQL: statements of ours, with names quoted by psycopg and values as parameters, and
queries that the server compiled."""
