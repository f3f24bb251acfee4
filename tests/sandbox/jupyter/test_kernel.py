"""A sealed kernel under Jupyter's own client: what a notebook does works, what leads out does not."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import InvalidInput
from sandtable.sandbox.local.kernels import SandboxedKernel
from tests.sandbox.jupyter.client import Client, connected
from tests.sandbox.jupyter.conftest import Bench
from tests.sandbox.local.processes import gone, pid_of

pytestmark = pytest.mark.asyncio(loop_scope="session")


@asynccontextmanager
async def _kernel(bench: Bench, **given: Any) -> AsyncIterator[tuple[SandboxedKernel, Client]]:
    kernel = await bench.kernel(**given)
    try:
        file = kernel.folder / "kernel.json"
        kernel.write_connection(file)
        async with connected(file) as client:
            yield kernel, client
    finally:
        await kernel.aclose()


async def test_state_is_kept_and_the_data_is_there(bench: Bench) -> None:
    async with _kernel(bench, names={"sales": "orders"}) as (_, client):
        assert (await client.run("x = df['amount'].sum()\nprint('hi')")).text == "hi\n"
        assert await client.value("x == orders['amount'].sum() == sales['amount'].sum()") == "np.True_"
        assert await client.value("len(sql('select * from orders where id < 7'))") == "7"
        assert await client.value("import pandas; pandas is pd, tables") == "(True, tables: orders)"
        wrong = await client.run("1 / 0")
        assert (wrong.status, wrong.error) == ("error", "ZeroDivisionError: division by zero")
        assert await client.value("len(df)") == "2000"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("df.head(2)", "text/html"),
        ("show(df.head(2), 'two')", "text/html"),
        ("display(df.head(2))", "text/html"),
        ("show_table([{'a': 1}])", "text/html"),
        ("pl.DataFrame({'a': [1]})", "text/html"),
        ("px.bar(df.head(2), x='id', y='amount')", "application/vnd.plotly.v1+json"),
        ("px.bar(df.head(2), x='id', y='amount').show()", "application/vnd.plotly.v1+json"),
        ("alt.Chart(df.head(2)).mark_bar().encode(x='id', y='amount')", "application/vnd.vegalite.v6+json"),
        ("show_plot('<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>')", "image/svg+xml"),
        ("show_html('<b>x</b>')", "text/html"),
        ("show_markdown('**x**')", "text/markdown"),
        ("show_mermaid('graph TD; A-->B')", "text/markdown"),
    ],
)
async def test_what_is_shown_comes_as_jupyter_has_it(bench: Bench, code: str, kind: str) -> None:
    async with _kernel(bench) as (_, client):
        reply = await client.run(code)
        assert reply.status == "ok", reply.error
        assert kind in reply.shown[-1]
        assert reply.text == ""


async def test_a_figure_is_data(bench: Bench) -> None:
    async with _kernel(bench) as (_, client):
        reply = await client.run("go.Figure(go.Bar(y=[1, float('nan'), 3]))")
        assert reply.shown[-1]["application/vnd.plotly.v1+json"]["data"] == [
            {"type": "bar", "y": [1, None, 3]}
        ]


@pytest.mark.parametrize("way", ["message", "signal"])
async def test_an_interrupt_keeps_the_state(bench: Bench, way: str) -> None:
    async with _kernel(bench) as (kernel, client):
        await client.run("x = 41")
        running = asyncio.create_task(client.run("x = 42\nwhile True: pass"))
        await asyncio.sleep(0.5)
        if way == "message":
            assert (await client.interrupt())["status"] == "ok"
        else:
            kernel.interrupt()
        assert (await running).error.startswith("KeyboardInterrupt")
        assert await client.value("x") == "42"


async def test_a_shutdown_ends_it(bench: Bench) -> None:
    async with _kernel(bench) as (kernel, client):
        pid = pid_of(kernel.sandbox)
        await client.run("x = 1")
        await client.shut_down()
        ended = await asyncio.wait_for(kernel.wait(), 5)
        assert ended.status == 0, kernel.sandbox.output
        assert not await gone({pid})


async def test_magics_that_need_no_host_work(bench: Bench) -> None:
    async with _kernel(bench) as (_, client):
        assert (await client.run("%timeit -n1 -r1 df.head()")).status == "ok"
        assert (await client.run("%%time\ndf.head()")).status == "ok"
        assert (await client.run("df?")).status == "ok"
        assert (await client.run("%whos")).status == "ok"
        assert any("region" in match for match in await client.complete("df.reg"))
        assert await client.value("import asyncio; await asyncio.sleep(0, 'slept')") == "'slept'"


@pytest.mark.parametrize(
    "code", ["!ls", "%pip list", "%%bash\nls", "%%sh\nls", "%cd /etc", "%run /etc/passwd"]
)
async def test_magics_that_need_the_host_fail(bench: Bench, code: str) -> None:
    async with _kernel(bench) as (_, client):
        reply = await client.run(f"{code}\n")
        assert reply.status == "error" or "rror" in reply.text or "not" in reply.text, reply
        assert "root:" not in reply.text
        assert await client.value("1 + 1") == "2"


_OUTWARD = {
    "a file": "open('/etc/passwd').read()",
    "the folder of the kernels": "import os; os.listdir('{folder}')",
    "a network socket": "import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "a datagram": "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "a unix socket": "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect('{host}')",
    "an abstract socket": "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect('\\0x')",
    "a pair of datagrams": "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "a pair of packets": "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)",
    "a pair over the network": "import socket; socket.socketpair(socket.AF_INET, socket.SOCK_STREAM)",
    "a descriptor": "import socket; a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [0])",
    "an address": "import socket; a, b = socket.socketpair(); a.sendto(b'x', '{host}')",
    "connecting a pair": "import socket; a, b = socket.socketpair(); a.connect('{host}')",
    "connecting what listens": "import socket; a = socket.socket(fileno={listening}); a.connect('{host}')",
    "another process": "import subprocess; subprocess.run(['/bin/true'])",
    "a fork": "import os; os.fork()",
    "ZeroMQ over a path": "import zmq; zmq.Context().socket(zmq.PUB).bind('ipc:///tmp/x')",
}


@pytest.mark.parametrize("code", _OUTWARD.values(), ids=list(_OUTWARD))
async def test_what_leads_out_fails(bench: Bench, code: str, tmp_path: Path) -> None:
    host = Path("/tmp") / f"sandtable-test-{tmp_path.name}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(host))
        listening.listen()
        listening.setblocking(False)
        try:
            async with _kernel(bench) as (kernel, client):
                number = "get_ipython().kernel.parent.listening[1]"
                ready = code.format(host=host, folder=kernel.folder.parent, listening=number)
                reply = await client.run(ready)
                assert reply.status == "error", reply
                assert not reply.error.startswith(("SyntaxError", "NameError", "AttributeError"))
                with pytest.raises(BlockingIOError):
                    listening.accept()
        finally:
            host.unlink()


_ITS_TRADE = {
    "accept on a socket (accept4)",
    "hold a foreign socket or folder",
    "make a pair of sockets (socketpair)",
    "send to an address (sendto)",
}
"""What a kernel does that nothing else may: it answers on sockets. The cases above show how far that goes."""


async def test_the_battery_of_escapes_finds_no_hole(bench: Bench) -> None:
    async with _kernel(bench) as (_, client):
        reply = await client.run(
            "from sandtable_runner import escape; import json\nprint(json.dumps(escape.attempt_all()))"
        )
        attempts = json.loads(reply.text)
        assert len(attempts) > 100
        assert {a["name"] for a in attempts if a["escaped"]} == _ITS_TRADE


async def test_two_kernels_do_not_see_each_other(bench: Bench) -> None:
    async with _kernel(bench) as (one, mine), _kernel(bench) as (other, theirs):
        assert one.folder != other.folder
        assert one.connection["key"] != other.connection["key"]
        await mine.run("x = 1\npd.seen = 1\ncon.execute('create table mine as select 1')\ndf['z'] = 1")
        await mine.run("open('/scratch/mine', 'w').write('x')")
        code = (
            "import os; 'x' in globals(), hasattr(pd, 'seen'), len(sql('show tables')), 'z' in df, "
            f"os.path.exists('/scratch/mine'), os.path.exists('{one.folder}')"
        )
        assert await theirs.value(code) == "(False, False, 1, False, False, False)"


async def test_a_message_without_the_key_is_not_heard(bench: Bench) -> None:
    async with _kernel(bench) as (_, client):
        await client.run("x = 1")
        stranger = type(client.jupyter.session)(key=b"guessed")
        message = stranger.msg("execute_request", {"code": "x = 2", "silent": False})
        assert client.jupyter.shell_channel.socket is not None
        stranger.send(client.jupyter.shell_channel.socket, message)
        assert await client.value("x") == "1"


async def test_the_connection_file_is_for_its_owner_alone(bench: Bench, tmp_path: Path) -> None:
    kernel = await bench.kernel()
    file = tmp_path / "kernel.json"
    kernel.write_connection(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (
        stat.S_IMODE(kernel.folder.stat().st_mode)
        == stat.S_IMODE(kernel.folder.parent.stat().st_mode)
        == 0o700
    )
    with pytest.raises(InvalidInput, match="exists"):
        kernel.write_connection(file)
    await kernel.aclose()
    await kernel.aclose()
    assert not kernel.folder.exists()
