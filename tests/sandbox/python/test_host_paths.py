"""Code that looks for the machine's folders, and errors that name them: the user reads none of them."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

import sandtable_runner
from tests.sandbox.python.conftest import Bench

pytestmark = pytest.mark.asyncio(loop_scope="session")

_CODES = {
    "a module's file": "import pandas as pd\nprint(pd.__file__)",
    "a module": "import pandas as pd\nprint(pd, repr(pd))",
    "a module in a text that is shown": "import pandas as pd\nmarkdown(pd.__file__)",
    "a name that a module lacks": "from pandas import nothing_here",
    "the interpreter": "import sys\nprint(sys.path, sys.prefix, sys.base_prefix, sys.executable, sys.orig_argv)",
    "a traceback": "import traceback\ntry:\n    df['nothing']\nexcept Exception:\n    print(traceback.format_exc())",
    "a traceback of a thread": (
        "import threading\nthread = threading.Thread(target=lambda: 1 / 0)\nthread.start()\nthread.join()"
    ),
    "the file of a function": "import pandas as pd\nprint(pd.DataFrame.groupby.__code__.co_filename)",
    "the file of the caller": "import sys\nprint(sys._getframe(0).f_back.f_code.co_filename)",
    "the folders of the installation": "import sysconfig\nprint(sysconfig.get_paths())",
    "the folders of packages": "import site\nprint(site.getsitepackages())",
    "a specification": "import importlib.util\nprint(importlib.util.find_spec('pandas'))",
    "a file that may not be read": "import numpy\nnumpy.show_config()",
    "the folder it is in": "import os\nprint(os.getcwd())",
    "a folder for temporary files": "import tempfile\nprint(tempfile.gettempdir())",
    "a database of the engine": "con.execute(\"ATTACH 'x.db'\")",
    "the engine's settings": 'print(con.execute("SELECT * FROM duckdb_settings()").fetchall())',
    "a file that is missing": "con.execute(\"SELECT * FROM read_parquet('nothing.parquet')\")",
    "an error of its own": "import pandas as pd\nraise ValueError(pd.__file__)",
}


def _folders(bench: Bench) -> set[str]:
    runner = Path(str(sandtable_runner.__file__)).parent.parent
    return {
        str(bench.store.root), str(runner), sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"),
        *({sys.prefix, sys.base_prefix, str(Path(sys.executable).parent)} - {"/usr", "/usr/local", "/usr/bin"}),
    }  # fmt: skip


@pytest.mark.parametrize("code", _CODES.values(), ids=list(_CODES))
async def test_no_folder_of_the_machine_comes_out(bench: Bench, code: str) -> None:
    result = await bench.run(code, check=False)
    text = result.model_dump_json(exclude={"rows"})
    assert {folder for folder in _folders(bench) if folder in text} == set()


async def test_the_place_within_a_library_stays(bench: Bench) -> None:
    result = await bench.run("import pandas as pd\nprint(pd.__file__)", check=False)
    assert result.stdout == "/python/pandas/__init__.py\n"


async def test_rows_stay_as_they_are(bench: Bench) -> None:
    folder = sysconfig.get_path("purelib")
    result = await bench.run(f"import pandas as pd\nshow(pd.DataFrame({{'a': [{folder!r}]}}))", check=False)
    assert result.rows == ((folder,),)
