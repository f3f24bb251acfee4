"""Jobs executed by `sandtable execd`, elsewhere: the protocol, the proof that both ends are who they say, the tier."""
