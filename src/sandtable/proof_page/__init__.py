"""Answers as one HTML file that proves itself: the records of their runs, the words beside them, and a verifier.

Invariant: everything that the page shows comes from signed payloads, is put in as text, and was checked before it is
shown; the page loads nothing, and its policy lets no other script run than its own.
"""
