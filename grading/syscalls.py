"""What the kernel refuses to a sandbox, as a filter that bubblewrap loads (seccomp).

What is refused is there for machines, not for notebooks. A new user namespace would let a student
mount file systems without a limit; memory that no process shows as its own could not be counted; a
socket of another family than Unix's might speak to something outside; limits of another process are
not one's own; and each of the others is a way into the Linux kernel that stays shut.

The sandboxes share files that they can only read: the interpreter and its packages. So a function
that has a hidden input could open some of them, and somebody else's cell could see which. What
tells of it is refused: watches and leases, hints that a file keeps, and what asks which parts of a
file are in memory. A file's lock would be seen, too; to take one seems to succeed, and does
nothing, as a sandbox has nobody else to lock out.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import socket

import pyseccomp

REFUSED = (
    *("unshare", "setns", "chroot", "pivot_root", "mount", "umount2", "mount_setattr"),
    *("move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick", "swapon", "swapoff"),
    *("memfd_create", "memfd_secret", "shmget", "msgget", "semget", "mq_open", "vmsplice"),
    *("keyctl", "add_key", "request_key", "ptrace", "process_vm_readv", "process_vm_writev"),
    *("bpf", "perf_event_open", "userfaultfd", "kcmp", "open_by_handle_at", "name_to_handle_at"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "kexec_load", "kexec_file_load"),
    *("init_module", "finit_module", "delete_module", "quotactl", "acct", "reboot", "syslog"),
    *("inotify_init", "inotify_init1", "inotify_add_watch", "fanotify_init", "fanotify_mark"),
    *("mincore", "readahead", "fadvise64", "io_setup", "io_submit", "process_madvise"),
    *("splice", "tee", "move_pages"),
)
NEWER = range(451, 512)  # calls of later kernels; the first is cachestat
LEASES = (fcntl.F_GETLK, 36, fcntl.F_SETLEASE, fcntl.F_GETLEASE, fcntl.F_NOTIFY)  # 36: F_OFD_GETLK
LOCKS = (fcntl.F_SETLK, fcntl.F_SETLKW, 37, 38)  # the last are F_OFD_SETLK and F_OFD_SETLKW
HINTS = range(1035, 1039)  # F_GET_RW_HINT and the like: a file keeps what a sandbox sets
TO_DISK = (20, 21, 22)  # madvise's: MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ
NEW_USER = 0x10000000  # clone's flag CLONE_NEWUSER
# A shared map that is no file's keeps the pages that are unmapped, as long as one is mapped.
SHARED = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS


def whole(place: int, number: int) -> pyseccomp.Arg:
    """That an argument is a number, as a kernel reads it that looks at 32 of its 64 bits."""
    return pyseccomp.Arg(place, pyseccomp.MASKED_EQ, 0xFFFFFFFF, number)


def program() -> int:
    """A descriptor from which bubblewrap reads the filter."""
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    refusal = pyseccomp.ERRNO(errno.EPERM)
    for name in REFUSED:
        rules.add_rule(refusal, name)
    for name in ("socket", "socketpair"):
        rules.add_rule(refusal, name, pyseccomp.Arg(0, pyseccomp.NE, socket.AF_UNIX))
    rules.add_rule(refusal, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, NEW_USER, NEW_USER))
    rules.add_rule(refusal, "mmap", pyseccomp.Arg(3, pyseccomp.MASKED_EQ, SHARED, SHARED))
    rules.add_rule(refusal, "prlimit64", pyseccomp.Arg(0, pyseccomp.NE, 0))  # 0: one's own
    for command in (*LEASES, *HINTS):
        rules.add_rule(refusal, "fcntl", whole(1, command))
    for advice in TO_DISK:
        rules.add_rule(refusal, "madvise", whole(2, advice))
    for name in ("preadv2", "pwritev2"):  # with flags: one reads only what is in memory
        rules.add_rule(refusal, name, pyseccomp.Arg(5, pyseccomp.NE, 0))
    done = pyseccomp.ERRNO(0)
    rules.add_rule(done, "flock")
    for command in LOCKS:
        rules.add_rule(done, "fcntl", whole(1, command))
    for number in NEWER:
        rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), number)
    # Its flags lie in memory, where a filter can't see them: programs fall back to clone.
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    descriptor = os.memfd_create("filter")
    with os.fdopen(os.dup(descriptor), "wb") as file:
        rules.export_bpf(file)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
