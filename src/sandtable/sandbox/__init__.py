"""Approved text becomes a Job, a Job becomes a Result: the seam, the tiers behind it, and the gate at work."""
