"""The services of a server as the principal of a request may see them: every route works on these views.

Invariant: what may not be seen is answered as what does not exist. A view has the methods that routes use and no
others: whatever is not listed here cannot be reached by a route.
"""
