"""The built-in planner in processes beside a server: `planners` is the server's end, `worker` is the program."""
