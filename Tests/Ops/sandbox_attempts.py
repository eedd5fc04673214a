"""Attempts of the program SandboxAttempts: what a sandboxed server cannot do, and what it must be able to do."""
import concurrent.futures
import ctypes
import ctypes.util
import errno
import os
import re
import signal
import socket
import subprocess

ENDED = "ended"  # by SIGSYS

# call, argument, permitted lists, the result in the sandbox, and outside of it (None: not tried, because it would change the system
# or depends on the kernel). {work} is a folder outside of all lists, except where a list names it.
ATTEMPTS = [
    # Files outside.
    ("read", "/etc/passwd", "", errno.EACCES, 0),
    ("read", "/etc/shadow", "", errno.EACCES, None),
    ("read", "/root/.bashrc", "", errno.EACCES, None),
    ("read", "/proc/1/environ", "", errno.EACCES, None),
    ("read", "{work}/secret", "changed {work}/share", errno.EACCES, 0),
    ("read", "{work}/share/../secret", "changed {work}/share", errno.EACCES, 0),
    ("read", "{work}/share/link", "changed {work}/share", errno.EACCES, 0),
    ("list", "{work}", "changed {work}/share", errno.EACCES, 0),
    ("list", "/", "", errno.EACCES, 0),
    ("write", "{work}/secret", "changed {work}/share", errno.EACCES, 0),
    ("truncate", "{work}/secret", "changed {work}/share", errno.EACCES, 0),
    ("create", "{work}/new", "changed {work}/share", errno.EACCES, 0),
    ("make-folder", "{work}/folder", "changed {work}/share", errno.EACCES, 0),
    ("remove", "{work}/removed", "changed {work}/share", errno.EACCES, 0),
    ("link", "{work}/secret", "changed {work}/share", errno.EACCES, 0),
    ("write", "/usr/lib/os-release", "", errno.EACCES, None),
    ("make-socket", "{work}/socket", "changed {work}/share", errno.EACCES, 0),
    # Files inside.
    ("read", "{work}/share/file", "changed {work}/share", 0, 0),
    ("list", "{work}/share", "changed {work}/share", 0, 0),
    ("write", "{work}/share/file", "changed {work}/share", 0, 0),
    ("create", "{work}/share/created", "changed {work}/share", 0, None),
    ("truncate", "{work}/share/truncated", "changed {work}/share", 0, 0),
    ("make-folder", "{work}/share/made", "changed {work}/share", 0, None),
    ("move", "{work}/share/moved", "changed {work}/share", 0, None),
    ("link", "{work}/share/file", "changed {work}/share", 0, None),
    ("make-device", "{work}/share/device", "changed {work}/share", errno.EPERM, None),
    ("make-socket", "{work}/share/socket", "changed {work}/share", 0, None),
    ("execute", "{work}/share/program", "changed {work}/share", errno.EPERM, None),
    # Lists with fewer rights.
    ("read", "{work}/share/file", "read {work}/share", 0, 0),
    ("write", "{work}/share/file", "read {work}/share", errno.EACCES, 0),
    ("create", "{work}/share/read", "read {work}/share", errno.EACCES, 0),
    ("remove", "{work}/share/kept", "read {work}/share", errno.EACCES, None),
    ("read", "{work}/settings/users", "replaceable {work}/settings/users", 0, 0),
    ("list", "{work}/settings", "replaceable {work}/settings/users", errno.EACCES, 0),
    ("write", "{work}/settings/users", "replaceable {work}/settings/users", errno.EACCES, 0),
    ("read", "{work}/live/key", "replaceable {work}/live/key", 0, 0),
    ("read", "{work}/archive/key2", "replaceable {work}/live/key", 0, 0),
    ("read", "{work}/secret", "replaceable {work}/live/key", errno.EACCES, 0),
    ("create", "{work}/log/new", "logs {work}/log/access", 0, None),
    ("write", "{work}/log/access", "logs {work}/log/access", 0, 0),
    ("read", "{work}/log/access", "logs {work}/log/access", errno.EACCES, 0),
    ("remove", "{work}/log/access", "logs {work}/log/access", errno.EACCES, None),
    ("make-socket", "{work}/run/davit", "sockets {work}/run/davit", 0, None),
    ("create", "{work}/run/file", "sockets {work}/run/davit", errno.EACCES, 0),
    ("create", "{work}/spool/file", "temporary {work}/spool", 0, None),
    ("make-folder", "{work}/spool/folder", "temporary {work}/spool", errno.EACCES, 0),
    ("list", "{work}/spool", "temporary {work}/spool", errno.EACCES, 0),
    # What libraries need.
    ("read", "/proc/self/mountinfo", "", 0, 0),
    ("read", "/dev/urandom", "", 0, 0),
    ("write", "/dev/full", "", errno.EACCES, 0),
    # Programs and processes.
    ("execute", "/bin/true", "", errno.EPERM, None),
    ("execute", "/bin/true", "read /bin", errno.EPERM, None),
    ("execute-descriptor", "/bin/true", "read /bin", errno.EPERM, None),
    ("fork", "", "", errno.EPERM, 0),
    ("clone3", "", "", errno.ENOSYS, 0),
    ("thread", "", "", 0, 0),
    ("signal-parent", "", "", errno.EPERM, 0),
    ("signal-itself", "", "", 0, 0),
    ("ptrace", "", "", ENDED, None),
    ("read-memory", "", "", ENDED, errno.EINVAL),
    # Privileges and the system.
    ("setuid", "", "", errno.EPERM, 0),
    ("setgid", "", "", errno.EPERM, 0),
    ("setgroups", "", "", errno.EPERM, None),
    ("chown", "{work}/share/file", "changed {work}/share", errno.EPERM, None),
    ("change-folder", "/", "", errno.EPERM, 0),
    ("mount", "{work}/share", "changed {work}/share", ENDED, None),
    ("chroot", "{work}/share", "changed {work}/share", ENDED, 0),
    ("unshare", "", "", ENDED, None),
    ("module", "", "", ENDED, None),
    ("bpf", "", "", ENDED, None),
    ("set-clock", "", "", ENDED, None),
    ("keys", "", "", errno.EPERM, None),
    ("io-uring", "", "", errno.EPERM, None),
    ("memory-file", "", "", errno.EPERM, None),
    # Memory.
    ("map", "", "", 0, 0),
    ("map-writable-code", "", "", errno.EPERM, 0),
    ("make-code", "", "", errno.EPERM, 0),
    # Networks. {port} listens, {abstract} too.
    ("connect", "{port}", "", errno.EPERM, 0),
    ("connect", "{port}", "connects -", 0, 0),
    ("bind", "0", "", errno.EPERM, 0),
    ("bind", "0", "connects -", errno.EACCES, 0),
    ("connect-abstract", "{abstract}", "", errno.EPERM, 0),
    ("packet-socket", "", "", errno.EPERM, None),
    ("vsock", "", "", errno.EPERM, None),
]


def landlock_version():
    return max(0, ctypes_syscall(444, 0, 0, 1))


def ctypes_syscall(*arguments):
    return ctypes.CDLL(None, use_errno=True).syscall(*map(ctypes.c_long, arguments))


def least_version(call, permitted, result):
    """The version of Landlock that a row needs; 0 for seccomp."""
    if call in ("connect", "bind"):
        return 4
    if call == "connect-abstract":
        return 6
    return 2 if result in (errno.EACCES, 0) and permitted or result == errno.EACCES else 0


def hiding(*calls):
    """Returns a function that hides system calls from the process and its children, like an older kernel; None without libseccomp."""
    name = ctypes.util.find_library("seccomp")
    if not name:
        return None
    library = ctypes.CDLL(name)
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_rule_add.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint]
    library.seccomp_load.argtypes = [ctypes.c_void_p]
    allow, unknown = 0x7FFF0000, 0x00050000 | errno.ENOSYS

    def hide():
        rules = library.seccomp_init(allow)
        for call in calls:
            number = 444 if call == "landlock_create_ruleset" else library.seccomp_syscall_resolve_name(call.encode())
            if library.seccomp_rule_add(rules, unknown, number, 0):
                os._exit(126)
        if library.seccomp_load(rules):
            os._exit(126)

    return hide


def prepare(work):
    for folder in ["share", "share/into", "settings", "live", "archive", "log", "run", "spool"]:
        (work / folder).mkdir(parents=True)
    for file in ["secret", "removed", "share/file", "share/moved", "share/kept", "share/truncated", "settings/users", "archive/key1",
                 "archive/key2", "log/access"]:
        (work / file).write_text("text\n")
    (work / "share/program").write_text("#!/bin/sh\n")
    (work / "share/program").chmod(0o755)
    (work / "share/link").symlink_to(work / "secret")
    (work / "live/key").symlink_to("../archive/key1")


def run(program, row, names, free=False, prepared=None):
    call, argument, permitted, _, _ = row
    words = [word.format(**names) for word in permitted.split()]
    command = [program, *(["--free"] if free else []), call, argument.format(**names) or "-", *words]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, preexec_fn=prepared)
    if result.returncode == -signal.SIGSYS:
        return ENDED
    lines = result.stdout.splitlines()
    if result.returncode or not lines or not re.fullmatch("-?[0-9]+", lines[-1]):
        return f"status {result.returncode}: {result.stdout}{result.stderr}"
    return int(lines[-1])


def attempts(program, work, report):
    """Makes each attempt in a process of its own, in the sandbox and, if it does no harm, outside, where it must have another
    result."""
    version = landlock_version()
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener, socket.socket(socket.AF_UNIX) as abstract:
        name = f"davit-{os.getpid()}"
        abstract.bind("\0" + name)
        abstract.listen(10)

        def both(number, row):
            folder = work / str(number)
            prepare(folder)
            names = {"work": folder, "port": listener.getsockname()[1], "abstract": name}
            inside = run(program, row, names)
            outside = None if row[4] is None else run(program, row, names, free=True)
            return row, inside, outside

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for row, inside, outside in pool.map(both, range(len(ATTEMPTS)), ATTEMPTS):
                call, argument, permitted, wanted, free = row
                what = f"{call} {argument} ({permitted})"
                if version < least_version(call, permitted, wanted):
                    print(f"SKIPPED: {what}: needs a later version of Landlock than {version}", flush=True)
                    continue
                report.check(f"in the sandbox: {what}", inside == wanted, f"gives {inside}, not {wanted}")
                report.check(f"outside: {what}", outside == free, f"gives {outside}, not {free}")

        # The restrictions of Landlock that the filter for system calls otherwise makes unnecessary.
        for call, least in [("connect", 4), ("bind", 4), ("signal-parent", 6), ("execute", 2)]:
            row = (call, "/bin/true" if call == "execute" else "{port}" if call == "connect" else "0", "", None, None)
            hide = hiding("seccomp")
            if version < least or not hide:
                print(f"SKIPPED: {call} without filters: needs libseccomp and a later version of Landlock", flush=True)
                continue
            wanted = errno.EPERM if call == "signal-parent" else errno.EACCES
            inside = run(program, row, {"port": listener.getsockname()[1]}, prepared=hide)
            report.check(f"without filters: {call}", inside == wanted, f"gives {inside}, not {wanted}")
