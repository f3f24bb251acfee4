"""Who may use a server: people, teams, keys and sessions, and what is shared with whom."""
