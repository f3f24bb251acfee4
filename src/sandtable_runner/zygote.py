"""The template process: started once by exec with a clean environment, forks one child for each job.

It imports the engine, finds out by trying which isolation the host supports, enters its namespaces, and then only forks
and reaps. It never reads a dataset, a query, or any message of a child. It ends with the server (by the kernel's
parent-death signal, or when the control socket closes), and its children with it.
"""

from __future__ import annotations

import array
import json
import os
import select
import signal
import socket
from typing import Any

from sandtable_runner import engine, kernel, landlock
from sandtable_runner.child import JOB_FD, Template, budget_of, live
from sandtable_runner.host import probe_host
from sandtable_runner.template import close_in, load_interpreter, start_engines, version_of

_MAX_MESSAGE = 64 << 10


class Control:
    """Receives orders with descriptors; reports which child started (with a pidfd) and which ended."""

    def __init__(self, fd: int) -> None:
        self.socket = socket.socket(fileno=fd)

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        message, fds, _, _ = socket.recv_fds(self.socket, _MAX_MESSAGE, 4)
        return (json.loads(message), fds) if message else None

    def send(self, news: dict[str, Any], fds: list[int] | None = None) -> None:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([json.dumps(news).encode()], rights)


class Zygote:
    def __init__(self, control: Control, template: Template) -> None:
        self.control = control
        self.template = template
        self.children: dict[int, int] = {}
        self.budget: tuple[int, str | None] | None = None
        self.own_pid_namespace = (
            os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC) if template.isolation.namespaces else -1
        )
        self.wake_read, self.wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(self.wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def loop(self) -> None:
        poll = select.poll()
        poll.register(self.control.socket, select.POLLIN)
        poll.register(self.wake_read, select.POLLIN)
        while True:
            for fd, _ in poll.poll():
                if fd == self.wake_read:
                    self._reap()
                elif (message := self.control.receive()) is None:
                    return
                else:
                    self._spawn(*message)

    def _spawn(self, order: dict[str, Any], fds: list[int]) -> None:
        """`fds`: the job's socket, and the pipe for the child's output."""
        self._set_budget(order)
        try:
            pid = self._fork()
        except OSError as error:
            self.control.send({"failed": order["id"], "reason": str(error)})
            for fd in fds:
                os.close(fd)
            return
        if pid == 0:
            self._become_child(order, fds)
        for fd in fds:
            os.close(fd)
        self.children[pid] = order["id"]
        pidfd = os.pidfd_open(pid)
        self.control.send({"started": order["id"]}, [pidfd])
        os.close(pidfd)

    def _set_budget(self, order: dict[str, Any]) -> None:
        """Set once here rather than in every child: most orders have the same budget."""
        budget = budget_of(self.template, order)
        if budget != self.budget:
            engine.set_budget(self.template.connection, *budget)
            self.budget = budget

    def _fork(self) -> int:
        """The child is process 1 of a new pid namespace; the template returns to its own."""
        if not self.template.isolation.namespaces:
            return os.fork()
        kernel.unshare(kernel.CLONE_NEWPID)
        pid = -1
        try:
            pid = os.fork()
        finally:
            if pid != 0:
                kernel.setns(self.own_pid_namespace, kernel.CLONE_NEWPID)
        return pid

    def _become_child(self, order: dict[str, Any], fds: list[int]) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        job, output = fds
        # Opened here: an inherited descriptor would share its flags and its offset with other sandboxes.
        nothing = os.open("/dev/null", os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.dup2(job, JOB_FD)
        live(self.template, order)

    def _reap(self) -> None:
        try:
            os.read(self.wake_read, 4096)
        except BlockingIOError:
            return
        while self.children:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            order_id = self.children.pop(pid, None)
            if order_id is not None:
                cpu_ms = (usage.ru_utime + usage.ru_stime) * 1e3
                self.control.send(
                    {"ended": order_id, "status": status, "peak_kb": usage.ru_maxrss, "cpu_ms": cpu_ms}
                )


def main(config: dict[str, Any]) -> None:
    """Called by `__main__`."""
    if config["nice"]:
        os.nice(config["nice"])
    control = Control(config["control_fd"])
    try:
        interpreter = load_interpreter(config["kind"])
    except ModuleNotFoundError as error:
        control.send({"missing": error.name or str(error)})
        return
    engines = start_engines(interpreter)
    engine.write_sample(engines[0], config["store"])
    isolation, reasons = probe_host(config["store"], allow_namespaces=config["isolation"] != "landlock")
    hello = {"engine": version_of(interpreter), "landlock": landlock.abi(), "reasons": reasons}
    if isolation is None:
        control.send({**hello, "unavailable": True})
        return
    template = close_in(isolation, config["store"], engines, interpreter)
    zygote = Zygote(control, template)
    control.send({**hello, "ready": True, "layers": isolation.layers})
    zygote.loop()
    os._exit(0)
