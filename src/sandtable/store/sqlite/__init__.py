"""The store in one SQLite file, which the processes of one home share."""
