"""`sandtable execd`: the execution plane as a service of its own. It holds data and a token: no keys, no database,
no model."""
