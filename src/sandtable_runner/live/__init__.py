"""The worker of one database: a sealed process that holds the driver, the credential and a connection, and no data of
ours. See `worker`."""
