"""Approved text becomes a Job, and a Job becomes a JobResult: the executor interface, its tiers, and the gates."""
