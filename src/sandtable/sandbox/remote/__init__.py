"""Jobs executed by `sandtable execd` on another machine: the protocol, the mutual authentication, the tier."""
