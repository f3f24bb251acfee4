"""In the build: what the packages' own scripts would have made. No script of a package has run."""

import os
from pathlib import Path

PROGRAMS = next(Path("/usr/lib/postgresql").glob("*/bin"))
USER = 999

Path("/etc/passwd").write_text(
    f"root:x:0:0::/:/bin/sh\npostgres:x:{USER}:{USER}::/var/lib/postgresql:/bin/sh\n"
)
Path("/etc/group").write_text(f"root:x:0:\npostgres:x:{USER}:\n")
Path("/opt/bin").symlink_to(PROGRAMS)
if not Path("/bin/sh").exists():
    Path("/bin/sh").symlink_to("dash")
for folder, mode in (("/var/lib/postgresql/data", 0o700), ("/var/run/postgresql", 0o3777), ("/tmp", 0o1777)):
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder).chmod(mode)
    if folder != "/tmp":
        os.chown(folder, USER, USER)
