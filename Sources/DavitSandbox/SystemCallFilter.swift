internal import DavitSystem

#if DAVIT_SECCOMP
internal import CSeccomp
#endif

/// The system calls that a server can make (seccomp). Filters of libseccomp work on all architectures of Linux.
package enum SystemCallFilter {
    /// Whether this build includes libseccomp: on Linux, with the package trait `Sandbox`.
    package static var isAvailable: Bool {
        #if DAVIT_SECCOMP
        true
        #else
        false
        #endif
    }

    /// Refuses all system calls of this process except those of a running server, permanently, in all threads.
    /// - Parameter connects: whether the server connects to other hosts.
    /// - Throws: the system error, such as `EACCES` or `EINVAL` if the kernel does not support filters; nothing has changed then.
    static func install(connects: Bool) throws(SystemError) {
        #if DAVIT_SECCOMP
        guard let filter = unsafe seccomp_init(DAVIT_SCMP_NOT_PERMITTED) else {
            // ENOMEM
            throw SystemError(errno: 12, call: "seccomp_init")
        }
        defer { unsafe seccomp_release(filter) }
        try check(unsafe seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1))
        // A binary search for the call; libseccomp 2.5 and later.
        _ = unsafe seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2)
        for rule in SystemCallRule.permitted(in: ProcessPrivileges.processID, connects: connects) {
            try unsafe add(rule, DAVIT_SCMP_ALLOW, to: filter)
        }
        try unsafe add(.unknown, DAVIT_SCMP_UNKNOWN, to: filter)
        try unsafe add(.fatal, DAVIT_SCMP_END_PROCESS, to: filter)
        try check(unsafe seccomp_load(filter))
        #endif
    }

    #if DAVIT_SECCOMP
    private static func add(
        _ rule: SystemCallRule, _ action: UInt32, to filter: scmp_filter_ctx
    ) throws(SystemError) {
        for name in rule.names {
            let number = unsafe seccomp_syscall_resolve_name(name)
            if number == DAVIT_SCMP_NO_SUCH_CALL { continue }
            if rule.conditions.isEmpty {
                try check(unsafe seccomp_rule_add_array(filter, action, number, 0, nil))
            }
            for condition in rule.conditions {
                let comparison = scmp_arg_cmp(
                    arg: condition.argument, op: SCMP_CMP_MASKED_EQ, datum_a: condition.mask,
                    datum_b: condition.value)
                try unsafe withUnsafePointer(to: comparison) { pointer throws(SystemError) in
                    try check(unsafe seccomp_rule_add_array(filter, action, number, 1, pointer))
                }
            }
        }
    }

    private static func check(_ result: Int32) throws(SystemError) {
        if result < 0 { throw SystemError(errno: -result, call: "seccomp") }
    }
    #endif
}
