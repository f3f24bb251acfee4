"""A copy of everything that a home and its database hold, taken while servers work, and a home made from it again."""
