"""The interpreter and the part of its standard library that a program without a terminal or a compiler uses."""

from __future__ import annotations

import re
import sys
import sysconfig
from pathlib import Path

from collect.debian import owners
from collect.tree import Tree

USER = 65532
_FOLDERS = "__pycache__ test idlelib tkinter turtledemo ensurepip lib2to3 pydoc_data distutils venv"
_SKIPPED = re.compile(
    rf"^({_FOLDERS.replace(' ', '|')}|(site|dist)-packages|config-.*|turtle\.py|LICENSE\.txt)(/|$)"
    r"|(^|/)(tests|__pycache__)(/|$)"
    r"|^lib-dynload/(_tkinter|_curses|_curses_panel|_dbm|_gdbm|readline|nis|ossaudiodev|_crypt|_test|xxlimited|_xx)"
)
_CONFIGURATION = {
    "/etc/passwd": f"root:x:0:0:root:/:/nonexistent\nsandtable:x:{USER}:{USER}::/var/lib/sandtable:/nonexistent\n",
    "/etc/group": f"root:x:0:\nsandtable:x:{USER}:\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\n",
}
_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
_AUTHORITIES = "/usr/share/ca-certificates/mozilla"


def library_folders() -> tuple[str, ...]:
    """Where the loader looks. /usr/local/lib is reached by the interpreter's own search path alone."""
    machine = sysconfig.get_config_var("MULTIARCH") or f"{sysconfig.get_platform().split('-')[-1]}-linux-gnu"
    return (f"/lib/{machine}", f"/usr/lib/{machine}", "/lib64", "/usr/lib64", "/lib", "/usr/lib")


def take_python(tree: Tree) -> None:
    tree.take(sys.executable)
    tree.take_all(sysconfig.get_path("stdlib"), lambda path: bool(_SKIPPED.search(path)))
    # Loaded by name while running: threads that end, and code with exceptions in C++.
    tree.library("libgcc_s.so.1")
    for optional in ("/usr/lib/locale/C.utf8", "/etc/os-release"):
        if tree.exists(optional):
            (tree.take_all if tree.real(optional).is_dir() else tree.take)(optional)
    for path, text in _CONFIGURATION.items():
        tree.write(path, text)
    tree.folder("tmp", 0o1777)


def take_authorities(tree: Tree) -> None:
    """Whom TLS trusts. A root file system of bare packages has the certificates but not the one file made of them."""
    if tree.exists(_BUNDLE):
        tree.write(_BUNDLE, tree.real(_BUNDLE).read_text(encoding="utf-8"))
        return
    each = sorted(tree.real(_AUTHORITIES).glob("*.crt"))
    tree.write(_BUNDLE, "".join(path.read_text(encoding="utf-8") for path in each))


def is_packaged() -> bool:
    """Whether the interpreter came in a package of the distribution; official Python images compile it."""
    return str(Path(sys.executable).resolve()) in owners(Path("/"))
