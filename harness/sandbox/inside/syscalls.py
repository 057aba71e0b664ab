"""System call numbers and the two lists of what foreign code is refused.

The numbers are those of the kernel's headers: x86_64 has its own table, aarch64 the generic one.
"""

import os

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name: (x86_64, aarch64); None where the architecture never had the call
NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chmod": (90, None),
    "chown": (92, None),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "execve": (59, 221),
    "execveat": (322, 281),
    "fanotify_init": (300, 262),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "fcntl": (72, 25),
    "finit_module": (313, 273),
    "fork": (57, None),
    "fremovexattr": (199, 16),
    "fsconfig": (431, 431),
    "fsetxattr": (190, 7),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "futimesat": (261, None),
    "init_module": (175, 105),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "kill": (62, 129),
    "lchown": (94, None),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open": (2, None),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "openat": (257, 56),
    "openat2": (437, 437),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "removexattr": (197, 14),
    "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "semget": (64, 190),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "setpriority": (141, 140),
    "settimeofday": (164, 170),
    "setxattr": (188, 5),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "tgkill": (234, 131),
    "tkill": (200, 130),
    "truncate": (76, 45),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
    "vfork": (58, None),
    "vhangup": (153, 58),
}

# Numbers above this one came after the lists were written: the caller is told "no such call".
NEWEST_KNOWN = 456

# Calls that reach beyond the process: the kernel's own surface, other processes, new namespaces,
# and memory that the watch on resident pages cannot see.
ALWAYS_REFUSED = (
    *("acct", "add_key", "adjtimex", "bpf", "chroot", "clock_adjtime", "clock_settime"),
    *("delete_module", "fanotify_init", "finit_module", "fsconfig", "fsmount", "fsopen", "fspick"),
    *("init_module", "io_uring_enter", "io_uring_register", "io_uring_setup", "ioperm", "iopl"),
    *("ioprio_set", "kcmp", "kexec_file_load", "kexec_load", "keyctl", "memfd_create"),
    *("modify_ldt", "quotactl_fd"),
    *("memfd_secret", "migrate_pages", "mount", "mount_setattr", "move_mount", "move_pages"),
    *("mq_open", "msgget", "name_to_handle_at", "open_by_handle_at", "open_tree"),
    *("perf_event_open", "pidfd_getfd", "pidfd_open", "pidfd_send_signal", "pivot_root"),
    *("process_madvise", "process_mrelease", "process_vm_readv", "process_vm_writev", "ptrace"),
    *("quotactl", "reboot", "request_key", "sched_setaffinity", "sched_setattr"),
    *("sched_setparam", "sched_setscheduler", "semget", "setdomainname", "sethostname", "setns"),
    *("setpriority", "settimeofday", "shmget", "swapoff", "swapon", "syslog", "umount2"),
    *("unshare", "userfaultfd", "vhangup"),
)

# Where the file system is the host's own, Landlock says nothing about these: without the two lists
# foreign code could take away the rights or change the times of every file its user owns. What
# honest code does to its own copies (`shutil.copy`) is answered as if it were done.
PRETENDED_ON_HOST_FILES = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "futimesat", "utime", "utimensat", "utimes"),
)
REFUSED_ON_HOST_FILES = (
    *("chown", "fchown", "fchownat", "fremovexattr", "fsetxattr", "inotify_init", "inotify_init1"),
    *("lchown", "lremovexattr", "lsetxattr", "removexattr", "setxattr"),
)


def machine() -> str:
    """Return the architecture's name as the tables know it."""
    return os.uname().machine


def number(name: str) -> int | None:
    """Return a call's number here; None where this architecture has no such call.

    Raises
    ------
    KeyError
        For an architecture without a table.
    """
    return NUMBERS[name][{"x86_64": 0, "aarch64": 1}[machine()]]
