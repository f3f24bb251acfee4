"""The store in a Postgres database, which several servers share. Its driver is the extra `postgres`."""
