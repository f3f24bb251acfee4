"""Conversations: threads and their stores, the order of turns, the life of a turn, and the journal of its events.

It knows no protocol. Each adapter in `server` encodes the events of the journal for its clients.
"""
