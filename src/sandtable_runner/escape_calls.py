"""System calls that a sandbox must not be able to make: purpose, name, number on x86_64 and on aarch64.

Each is made with harmless arguments. EPERM, EACCES and ENOSYS mean that the call is blocked; an error about its
arguments means that the call is allowed.
"""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Callable

from sandtable_runner.syscalls import MACHINE

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long
_CLOSED = (errno.EPERM, errno.EACCES, errno.ENOSYS)
_X32_BIT = 0x40000000

# purpose | call, x86_64, aarch64 (`-`: does not exist), arguments
_TABLE = """
trace a process | ptrace 101 117 16 1 0 0
ask to be traced | ptrace 101 117 0 0 0 0
read another process's memory | process_vm_readv 310 270 1 0 0 0 0 0
write another process's memory | process_vm_writev 311 271 1 0 0 0 0 0
compare with another process | kcmp 312 272 1 1 0 0 0
open a handle on a process | pidfd_open 434 434 1 0
take another process's descriptor | pidfd_getfd 438 438 0 0 0
signal through a handle | pidfd_send_signal 424 424 0 0 0 0
advise on another process's memory | process_madvise 440 440 0 0 0 0 0
queue a signal | rt_sigqueueinfo 129 138 1 0 0
queue a signal to a thread | rt_tgsigqueueinfo 297 240 1 1 0 0
signal any thread | tkill 200 130 1 0
leave the process group | setpgid 109 154 0 0
start a session | setsid 112 157
make an in-memory file | memfd_create 319 279 0 0
make secret memory | memfd_secret 447 447 0
use the kernel's key ring | keyctl 250 219 0 -3 1
add a key | add_key 248 217 0 0 0 0 0
request a key | request_key 249 218 0 0 0 0
load a kernel program | bpf 321 280 0 0 0
watch the machine | perf_event_open 298 241 0 0 -1 -1 0
handle page faults | userfaultfd 323 282 0
queue kernel work | io_uring_setup 425 425 1 0
load a kernel module | init_module 175 105 0 0 0
load a kernel module from a file | finit_module 313 273 0 0 0
load another kernel | kexec_load 246 104 0 0 0 0
read the kernel's log | syslog 103 116 10 0 0
switch process accounting on | acct 163 89 0
switch swapping on | swapon 167 224 0 0
restart the machine | reboot 169 142 0 0 0 0
set the host name | sethostname 170 161 0 0
set the clock | clock_settime 227 112 0 0
adjust the clock | adjtimex 159 171 0
set the time of day | settimeofday 164 170 0 0
manage disk quotas | quotactl 179 60 0 0 0 0
enter a namespace | setns 308 268 0 0
make a namespace | unshare 272 97 131072
mount | mount 165 40 0 0 0 0 0
unmount | umount2 166 39 0 0
change the root | chroot 161 51 0
exchange the root | pivot_root 155 41 0 0
open a mount tree | open_tree 428 428 -100 0 0
move a mount | move_mount 429 429 -100 0 -100 0 0
open a file system | fsopen 430 430 0 0
change a mount's attributes | mount_setattr 442 442 -100 0 0 0 0
name a file by a handle | name_to_handle_at 303 264 -100 0 0 0 0
open a file by a handle | open_by_handle_at 304 265 -100 0 0
open a file with conditions | openat2 437 437 -100 0 0 24
make a file the old way | creat 85 - 0 0
make a device | mknodat 259 33 -100 0 8192 0
make a hard link | linkat 265 37 -100 0 -100 0 0
make a symbolic link | symlinkat 266 36 0 -100 0
change a file's owner | fchownat 260 54 -100 0 -1 -1 0
set an extended attribute | setxattr 188 5 0 0 0 0 0
remove an extended attribute | removexattr 197 14 0 0
watch files | inotify_init1 294 26 0
watch every file | fanotify_init 300 262 0 0
lock a file for others | flock 73 32 1 4
flush every disk | sync 162 81
shared memory segment | shmget 29 194 0 4096 950
attach shared memory | shmat 30 196 0 0 0
message queue | msgget 68 186 0 950
message queue by name | mq_open 240 180 0 0 0 0
semaphores | semget 64 190 0 1 950
start a process | clone 56 220 17 0 0 0 0
start a process, new way | clone3 435 435 0 0
start a process, old way | fork 57 -
start a process, borrowing memory | vfork 58 -
start a program by descriptor | execveat 322 281 -100 0 0 0 0
make a socket | socket 41 198 2 1 0
make a pair of sockets | socketpair 53 199 1 1 0 0
connect a socket | connect 42 203 3 0 0
bind a socket | bind 49 200 3 0 0
listen on a socket | listen 50 201 3 1
accept on a socket | accept4 288 242 3 0 0 0
send a message with descriptors | sendmsg 46 211 3 0 0
receive descriptors | recvmsg 47 212 3 0 0
send to an address | sendto 44 206 3 0 0 0 0 0
set a socket's options | setsockopt 54 208 3 1 2 0 0
move pages into a pipe | vmsplice 278 75 1 0 0 0
move data between pipes | splice 275 76 0 0 1 0 0 0
duplicate a pipe's data | tee 276 77 0 1 0 0
change the personality | personality 135 92 -1
add a system call filter | seccomp 317 277 2 0 0
confine by Landlock again | landlock_restrict_self 446 446 -1 0
set capabilities | capset 126 91 0 0
change the user | setuid 105 146 65534
change the group | setgid 106 144 65534
change the groups | setgroups 116 159 0 0
set a limit | setrlimit 160 164 0 0
change priority | setpriority 141 140 0 0 -20
change disk priority | ioprio_set 251 30 1 0 0
change scheduling | sched_setattr 314 274 0 0 0
move memory between nodes | migrate_pages 256 238 0 0 0 0
rearrange mappings | remap_file_pages 216 234 0 0 0 0 0
protect memory by keys | pkey_mprotect 329 288 0 0 0 0
change segments | modify_ldt 154 - 0 0 0
use input and output ports | iopl 172 - 3
use some ports | ioperm 173 - 0 1 1
"""


def forbidden_calls() -> dict[str, Callable[[], bool]]:
    attempts: dict[str, Callable[[], bool]] = {}
    for line in _TABLE.strip().splitlines():
        purpose, _, rest = line.partition("|")
        name, x86, arm, *arguments = rest.split()
        number = x86 if MACHINE == "x86_64" else arm
        if number != "-":
            attempts[f"{purpose.strip()} ({name})"] = _calls(int(number), [int(value) for value in arguments])
    if MACHINE == "x86_64":
        # getpid and openat through the x32 ABI, which an incomplete filter misses.
        attempts["call through x32 (getpid)"] = _calls(_X32_BIT | 39, [])
        attempts["call through x32 (openat)"] = _calls(_X32_BIT | 257, [-100, 0, 0])
    return attempts


def _calls(number: int, arguments: list[int]) -> Callable[[], bool]:
    def attempt() -> bool:
        code = _syscall(ctypes.c_long(number), *(ctypes.c_long(value) for value in arguments))
        return code >= 0 or ctypes.get_errno() not in _CLOSED

    return attempt
