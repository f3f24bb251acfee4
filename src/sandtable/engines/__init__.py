"""What is known of the engines that answer queries: one folder per engine, pure data and pure functions."""
