"""What the kernel refuses to a sandbox, as a filter that bubblewrap loads (seccomp).

What is refused is there for machines, not for notebooks. A new user namespace would let a student
mount file systems without a limit; memory that no process shows as its own could not be counted; a
socket of another family than Unix's might speak to something outside; limits of another process are
not one's own; and each of the others is a way into the Linux kernel that stays shut.
"""

from __future__ import annotations

import errno
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
)
NEW_USER = 0x10000000  # clone's flag CLONE_NEWUSER
# A shared map that is no file's keeps the pages that are unmapped, as long as one is mapped.
SHARED = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS


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
    # Its flags lie in memory, where a filter can't see them: programs fall back to clone.
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    descriptor = os.memfd_create("filter")
    with os.fdopen(os.dup(descriptor), "wb") as file:
        rules.export_bpf(file)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
