"""The gate: SQL text becomes Approved or Refused."""
