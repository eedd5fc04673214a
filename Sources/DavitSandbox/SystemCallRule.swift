/// System calls that a sandboxed server may make, or that end it, and the reason.
struct SystemCallRule: Sendable {
    /// A condition for an argument: `argument & mask == value`.
    struct Condition: Sendable {
        var argument: UInt32
        /// By default, 32 bits: the kernel ignores the others in arguments that are numbers.
        var mask: UInt64 = 0xffff_ffff
        var value: UInt64
    }

    let reason: String
    /// Names that this architecture or version of libseccomp does not know are skipped.
    let names: [String]
    /// Alternatives, each of which permits the call; empty if all arguments are permitted.
    var conditions: [Condition] = []

    init(_ reason: String, _ names: String, when conditions: [Condition] = []) {
        self.reason = reason
        self.names = names.split(separator: " ").map(String.init)
        self.conditions = conditions
    }
}

/// Everything that a server does after it has started. Calls that are not listed fail with `EPERM`. The lists come from traces of
/// the test suites on x86-64 with glibc; the calls that other architectures, musl and older kernels use for the same purposes are
/// added.
extension SystemCallRule {
    /// - Parameters:
    ///   - process: the ID of this process.
    ///   - connects: whether the server connects to other hosts. It accepts connections without new sockets.
    static func permitted(in process: Int32, connects: Bool) -> [SystemCallRule] {
        [sockets(connects: connects)] + files + network + memory + threads(of: process) + information
    }

    private static func sockets(connects: Bool) -> SystemCallRule {
        // AF_UNIX, and AF_NETLINK, with which libc lists the addresses of the machine; AF_INET and AF_INET6.
        let families: [UInt64] = [1, 16] + (connects ? [2, 10] : [])
        return Self(
            "sockets of the families that a server uses", "socket socketpair",
            when: families.map { Condition(argument: 0, value: $0) })
    }

    private static let files: [SystemCallRule] = [
        Self(
            "content of files",
            """
            read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 lseek _llseek sendfile sendfile64 \
            copy_file_range fadvise64 fadvise64_64 arm_fadvise64_64 readahead fallocate ftruncate ftruncate64 fsync fdatasync \
            sync_file_range sync_file_range2 syncfs
            """),
        Self(
            "opening files; Landlock decides which",
            """
            open openat openat2 close close_range dup dup2 dup3 fcntl fcntl64 flock pipe pipe2
            """),
        Self(
            "names of files",
            """
            mkdir mkdirat rename renameat renameat2 link linkat unlink unlinkat rmdir symlinkat readlink readlinkat getdents \
            getdents64 getcwd
            """),
        Self(
            "status, permissions, owners, times and attributes of files",
            """
            stat fstat lstat stat64 fstat64 lstat64 newfstatat fstatat64 statx statfs statfs64 fstatfs fstatfs64 access faccessat \
            faccessat2 chmod fchmod fchmodat fchmodat2 fchown fchown32 fchownat utimensat utimensat_time64 umask getxattr \
            getxattrat fgetxattr fsetxattr fremovexattr listxattr flistxattr listxattrat
            """),
        Self(
            "changes by other programs", "inotify_init inotify_init1 inotify_add_watch inotify_rm_watch"),
        Self(
            "cloned files, lengths of queues, and whether a descriptor is a terminal", "ioctl",
            when: [
                0x4004_9409,  // FICLONE
                0x8008_6601, 0x8004_6601,  // FS_IOC_GETFLAGS, with 64 and 32 bits
                0x541b, 0x5411,  // FIONREAD; TIOCOUTQ, which is SIOCOUTQ
                0x5421,  // FIONBIO
                0x5401, 0x5413,  // TCGETS, TIOCGWINSZ
            ].map { Condition(argument: 1, value: $0) }),
    ]

    private static let network: [SystemCallRule] = [
        Self(
            "connections; also for the control socket, the service manager, and a directory",
            """
            bind listen accept accept4 connect shutdown getsockname getpeername getsockopt setsockopt send sendto sendmsg \
            sendmmsg recv recvfrom recvmsg recvmmsg recvmmsg_time64
            """),
        Self(
            "waiting for events",
            """
            epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 signalfd signalfd4 poll \
            ppoll ppoll_time64 select _newselect pselect6 pselect6_time64 nanosleep clock_nanosleep clock_nanosleep_time64
            """),
    ]

    private static let memory: [SystemCallRule] = [
        // PROT_WRITE is 2, and PROT_EXEC is 4.
        Self(
            "memory and libraries, but no memory that is both writable and executable", "mmap mmap2",
            when: [0, 2, 4].map { Condition(argument: 2, mask: 6, value: $0) }),
        Self(
            "permissions of memory, but not execution", "mprotect",
            when: [Condition(argument: 2, mask: 4, value: 0)]),
        Self("memory", "munmap mremap madvise brk mincore"),
    ]

    private static func threads(of process: Int32) -> [SystemCallRule] {
        let own = UInt64(UInt32(bitPattern: process))
        return [
            Self(
                "starting threads, but not processes", "clone",
                when: [Condition(argument: 0, mask: 0x10000, value: 0x10000)]),  // CLONE_THREAD
            Self(
                "running and stopping threads",
                """
                futex futex_time64 futex_waitv set_robust_list get_robust_list rseq membarrier set_tid_address set_tls \
                set_thread_area gettid sched_yield sched_getaffinity sched_getparam sched_getscheduler getpriority setpriority \
                exit exit_group
                """),
            Self(
                "signals to this process, such as abort()", "kill tgkill",
                when: [Condition(argument: 0, value: own)]),
            Self(
                "handling signals",
                """
                rt_sigaction rt_sigprocmask rt_sigreturn sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait \
                rt_sigtimedwait_time64 sigaltstack restart_syscall
                """),
            Self("names of threads", "prctl", when: [Condition(argument: 0, value: 15)]),  // PR_SET_NAME
            // The process ID 0 means this process.
            Self(
                "the limits of this process", "prlimit64",
                when: [0, own].map { Condition(argument: 0, value: $0) }),
        ]
    }

    private static let information: [SystemCallRule] = [
        Self(
            "the time; without a vDSO",
            "clock_gettime clock_gettime64 clock_getres clock_getres_time64 gettimeofday time"),
        Self("random numbers", "getrandom"),
        Self(
            "facts about this process and machine",
            """
            getpid getppid getuid getuid32 geteuid geteuid32 getgid getgid32 getegid getegid32 getresuid getresuid32 getresgid \
            getresgid32 getgroups getgroups32 getrlimit ugetrlimit setrlimit getrusage times uname sysinfo getcpu
            """),
    ]

    /// The flags of this call are in memory, where they cannot be checked. libc tries `clone` if the kernel does not know it.
    static let unknown = Self("starting threads", "clone3")

    /// No server makes these calls, not even in a library: after one of them, other code than davit's is running.
    static let fatal = Self(
        "control of other processes, of the kernel and of its file systems",
        """
        ptrace process_vm_readv process_vm_writev init_module finit_module delete_module kexec_load kexec_file_load bpf \
        perf_event_open userfaultfd mount umount umount2 pivot_root chroot setns unshare move_mount open_tree fsopen fsmount \
        mount_setattr reboot swapon swapoff iopl ioperm settimeofday clock_settime acct sethostname setdomainname \
        open_by_handle_at
        """)
}
