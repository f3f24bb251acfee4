"""Sealed workers that hold the driver of one database and a connection to it: see `sandtable_runner.live`."""
