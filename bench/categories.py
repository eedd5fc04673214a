"""Divides the samples of any server into the same categories of work."""

import re

SOCKETS, FILES, REST = "kernel: sockets and event queue", "kernel: files", "kernel: scheduling, interrupts and the rest"
COUNTING, MEMORY, LIBRARIES = "reference counting", "allocating and copying memory", "libraries other than libc"
OWN, LIBC, UNKNOWN = "the program's own code", "the rest of libc", "unknown"
USER = [COUNTING, MEMORY, OWN, LIBRARIES, LIBC, UNKNOWN]
# The frames between the entry of the kernel and the function of a system call.
ENTRY = re.compile(r"do_syscall_64|x64_sys_call|invoke_syscall|(do_)?el0_svc")
# The compiler can turn the last call of `__x64_sys_writev` into a jump, so that `do_writev` takes its place in the stack.
SYSTEM_CALL = re.compile(r"(?:__\w+_sys_|__sys_|ksys_|do_sys_|do_|path_|vfs_)(\w+)")
SOCKET_CALL = re.compile(r"recv(from|m?msg)|send(to|m?msg)|accept4?|epoll_\w+|p?poll|p?select6?|shutdown|socket(pair)?|connect|"
                         r"bind|listen|[gs]etsockopt|get(sock|peer)name|eventfd2?")
# Calls such as `writev` can be about a file, a socket, or a pipe or counter that wakes up another thread.
SOCKET_FRAME = re.compile(r"(sock|tcp|inet|eventfd)_|unix_(stream|dgram)_|pipe_(read|write)")
OTHER_CALL = re.compile(r"futex\w*|sched_\w+|nanosleep|clock_\w+|gettimeofday|times|getrusage|m(un|re)?map|mprotect|madvise|"
                        r"brk|membarrier|rseq|clone3?|v?fork|execve|exit(_group)?|wait\w+|(tg?)?kill|rt_sig\w+|restart_syscall|"
                        r"getrandom|prctl|[gs]et(res|e)?[ugp]id|gettid")
# `openat` is the same work as `open`, and `fstat` about the same as `statx`.
VARIANT = re.compile(r"(?:new)?[flp]?(stat|read|write|open|mkdir|mknod|rename|unlink|link|symlink|readlink|chmod|chown|"
                     r"truncate|access|utimens|getdents|(?:get|set|list|remove)xattr)(?:at|x|v|64|2)*")

COUNTING_SYMBOL = re.compile(r"_?swift_(\w*([Rr]etain|[Rr]elease)|bridgeObject|unknownObject|weak|unowned|"
                             r"isUniquelyReferenced)|swift::RefCount")
MEMORY_SYMBOL = re.compile(r"_?swift_(slow|task_)?([Aa]lloc|[Dd]ealloc)|_*(libc_)?(m|c|re|v|pv)alloc|_*(libc_)?c?free\b|"
                           r"_int_(malloc|free|realloc|memalign)|sysmalloc|systrim|unlink_chunk|tcache_|"
                           r"_*(posix_|libc_)?(memalign|aligned_alloc)|_*(mem(cpy|move|set)|mempcpy)|operator (new|delete)")
LIBC_MODULE = re.compile(r"(libc|libpthread|librt|libdl|ld-[\w-]+|ld)[.-]|\[vdso\]")
LIBRARY_MODULE = re.compile(r"lib.*\.so\b")


def category(sample):
    """Returns the category of a sample."""
    return kernel_category(sample) if sample.frames[0].is_kernel else user_category(sample.frames[0])


def kernel_category(sample):
    """Returns the category for the system call. The categories of files contain its name."""
    names = [frame.symbol for frame in sample.frames if frame.is_kernel]
    call = system_call(names)
    if call is None or OTHER_CALL.fullmatch(call):
        return REST
    if SOCKET_CALL.fullmatch(call) or any(map(SOCKET_FRAME.match, names)):
        return SOCKETS
    variant = VARIANT.fullmatch(call)
    return f"{FILES}, {variant[1] if variant else call}"


def system_call(names):
    """Returns the name of the system call; None for interrupts, page faults and the entry and exit of system calls."""
    names = list(reversed(names))
    entries = [index for index, name in enumerate(names) if ENTRY.match(name)]
    inner = names[entries[-1] + 1:] if entries else []
    found = SYSTEM_CALL.match(inner[0]) if inner else None
    return found and found[1]


def user_category(frame):
    if COUNTING_SYMBOL.match(frame.symbol):
        return COUNTING
    if MEMORY_SYMBOL.match(frame.symbol):
        return MEMORY
    if LIBC_MODULE.match(frame.module):
        return LIBC
    if frame.module == "[unknown]":
        return UNKNOWN
    return LIBRARIES if LIBRARY_MODULE.match(frame.module) else OWN
