"""A cluster on first start, then the server, in this process."""

import os
import subprocess
import sys
from pathlib import Path

data, user = os.environ["PGDATA"], os.environ["POSTGRES_USER"]
if not (Path(data) / "PG_VERSION").exists():
    made = [
        "initdb",
        "--pgdata",
        data,
        "--username",
        user,
        "--auth",
        "trust",
        "--encoding",
        "UTF8",
        "--no-locale",
    ]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(
        ["postgres", "--single", "-D", data, "postgres"],
        input=f"CREATE DATABASE {os.environ['POSTGRES_DB']}\n".encode(), check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
os.execvp(sys.argv[1], [*sys.argv[1:], "-D", data, "-k", "/var/run/postgresql"])
