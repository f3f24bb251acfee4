"""PostgreSQL: which type of ours each of its types becomes, and how a plan is written for it."""
