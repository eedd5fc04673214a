#if os(Linux)
internal import CLinux
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The user of this process, and the privileges that it has in addition to the permissions of that user.
package enum ProcessPrivileges {
    /// Whether this system has the calls to give up privileges and to restrict the process.
    package static var canBeReduced: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// Whether the process has the rights of root.
    package static var isRoot: Bool { geteuid() == 0 }

    /// The ID of this process.
    package static var processID: Int32 { getpid() }

    /// The number of threads of this process; nil if the system does not report it.
    package static var threadCount: Int? {
        guard let tasks = try? PrivateFolder.names(in: "/proc/self/task") else { return nil }
        return tasks.count
    }

    /// Checks that the user of this process can open a file for reading, without opening it: reading from a pipe would take its
    /// content.
    /// - Throws: the system error, such as `EACCES`.
    package static func checkReadPermission(_ path: String) throws(SystemError) {
        _ = try checked("access") { unsafe access(path, R_OK) }
    }

    /// Checks that the user of this process can list a folder and add and remove files in it.
    /// - Throws: the system error, such as `EACCES` or `EROFS`.
    package static func checkChangePermission(_ folder: String) throws(SystemError) {
        _ = try checked("access") { unsafe access(folder, R_OK | W_OK | X_OK) }
    }

    /// The name of the user of this process, or its number if it has no name.
    package static var userName: String {
        let user = geteuid()
        guard let entry = unsafe getpwuid(user), let name = unsafe entry.pointee.pw_name else {
            return "\(user)"
        }
        return unsafe String(cString: name)
    }

    /// Ensures that programs which this process starts cannot gain privileges, such as those of set-user-ID programs.
    package static func giveUpNewOnes() throws(SystemError) {
        #if os(Linux)
        _ = try checked("prctl") { davit_set_no_new_privileges() }
        #else
        throw SystemError(errno: ENOTSUP, call: "prctl")
        #endif
    }
}

/// A user and a group that the process can change to.
package struct ProcessUser: Sendable {
    /// The reason why there is no such user.
    package enum Failure: Error, Hashable, Sendable {
        case unknownUser
        case unknownGroup
        case failed(SystemError)
    }

    package let name: String
    /// The home folder in the user database.
    package let home: String
    package let user: UInt32
    package let group: UInt32

    /// The length of the longest entry of the databases that is accepted, in bytes; a group can have many members.
    private static let entryLimit = 1 << 20

    /// Looks up a user, and a group if it is not the user's own.
    /// - Parameter group: the name of a group; nil for the primary group of the user.
    package init(named name: String, group: String?) throws(Failure) {
        let user = try unsafe Self.entry { (record: UnsafeMutablePointer<passwd>, buffer, capacity, result) in
            unsafe getpwnam_r(name, record, buffer, capacity, result)
        } reading: { record in
            let home = unsafe record.pw_dir as UnsafeMutablePointer<CChar>?
            let text = unsafe home.map { unsafe String(cString: $0) } ?? "/"
            return (unsafe record.pw_uid, unsafe record.pw_gid, text)
        }
        guard let user else { throw .unknownUser }
        var number = user.1
        if let group {
            let found = try unsafe Self.entry {
                (record: UnsafeMutablePointer<GroupRecord>, buffer, capacity, result) in
                unsafe getgrnam_r(group, record, buffer, capacity, result)
            } reading: {
                unsafe $0.gr_gid
            }
            guard let found else { throw .unknownGroup }
            number = found
        }
        self.name = name
        (self.user, self.group, home) = (user.0, number, user.2)
    }

    /// Whether the process already runs as this user and group.
    package var isCurrent: Bool {
        getuid() == user && geteuid() == user && getgid() == group && getegid() == group
    }

    /// Changes the user and the groups of the process, of all its threads, permanently, and removes its capabilities. `HOME`,
    /// `USER` and `LOGNAME` become those of the user, and `XDG_STATE_HOME` is removed. Requires root.
    ///
    /// A process that already runs as this user keeps its environment, and without the capability to change groups, its
    /// supplementary groups. Must be called before other threads are started, which would keep their capabilities.
    /// - Throws: the error of a call, or `EPERM` if the process could still change back.
    package func become() throws(SystemError) {
        #if os(Linux)
        let (user, group, isCurrent) = (user, group, isCurrent)
        do throws(SystemError) {
            _ = try checked("initgroups") { unsafe initgroups(name, group) }
        } catch {
            guard isCurrent, error.code == .notPermitted else { throw error }
        }
        // Filters of system calls, such as that of the systemd unit, can refuse these calls even if they change nothing.
        if try !hasAllIDs() {
            _ = try checked("setresgid") { setresgid(group, group, group) }
            _ = try checked("setresuid") { setresuid(user, user, user) }
        }
        _ = try checked("capset") { davit_drop_capabilities() }
        guard try hasAllIDs(), davit_has_capabilities() == 0, user == 0 || setresuid(0, 0, 0) != 0
        else { throw SystemError(errno: EPERM, call: "setresuid") }
        if isCurrent { return }
        for (name, value) in [("HOME", home), ("USER", name), ("LOGNAME", name)] {
            unsafe setenv(name, value, 1)
        }
        unsafe unsetenv("XDG_STATE_HOME")
        #else
        throw SystemError(errno: ENOTSUP, call: "setresuid")
        #endif
    }

    #if os(Linux)
    /// Whether the real, effective and saved IDs of the process are those of this user and group.
    private func hasAllIDs() throws(SystemError) -> Bool {
        var users: (uid_t, uid_t, uid_t) = (0, 0, 0)
        var groups: (gid_t, gid_t, gid_t) = (0, 0, 0)
        _ = try checked("getresuid") { unsafe getresuid(&users.0, &users.1, &users.2) }
        _ = try checked("getresgid") { unsafe getresgid(&groups.0, &groups.1, &groups.2) }
        return users == (user, user, user) && groups == (group, group, group)
    }
    #endif

    private typealias GroupRecord = group

    /// Calls a function of libc with a buffer that is long enough for its result.
    /// - Returns: nil if there is no such entry.
    private static func entry<Record, Value>(
        _ look: (
            UnsafeMutablePointer<Record>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<Record>?>
        ) -> Int32,
        reading value: (Record) -> Value
    ) throws(Failure) -> Value? {
        let record = UnsafeMutablePointer<Record>.allocate(capacity: 1)
        defer { unsafe record.deallocate() }
        var capacity = 4096
        while capacity <= entryLimit {
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: capacity)
            defer { unsafe buffer.deallocate() }
            var found: UnsafeMutablePointer<Record>?
            switch unsafe look(record, buffer, capacity, &found) {
            case 0: return unsafe found.map { unsafe value($0.pointee) }
            case ERANGE: capacity *= 2
            case EINTR: continue
            // Some systems report these errors for unknown names.
            case ENOENT, ESRCH, EBADF, EPERM: return nil
            case let code: throw .failed(SystemError(errno: code, call: "getpwnam"))
            }
        }
        throw .failed(SystemError(errno: ERANGE, call: "getpwnam"))
    }
}
