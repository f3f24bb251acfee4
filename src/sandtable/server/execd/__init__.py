"""`sandtable execd`: the execution plane as a separate service. It holds data and a token: no keys, no database,
no model."""
