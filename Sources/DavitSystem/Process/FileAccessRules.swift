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

/// Restricts the files and the network connections of this process with Landlock.
///
/// Landlock checks the opening and the changing of files, not descriptors that are already open, and neither status nor
/// permissions of files. Rules apply to everything below a folder, including file systems that are mounted in it later.
package struct FileAccessRules: ~Copyable {
    /// What the process can do with a file, or with the files below a folder.
    package struct FileRights: OptionSet, Sendable {
        package let rawValue: UInt64

        package init(rawValue: UInt64) { self.rawValue = rawValue }

        /// Read files, but not list folders.
        package static let readFiles = Self(rawValue: 1 << 2)
        /// Read files and list folders.
        package static let read = Self(rawValue: 1 << 2 | 1 << 3)
        /// Write to existing files, and truncate them.
        package static let write = Self(rawValue: 1 << 1 | 1 << 14)
        /// Create regular files.
        package static let createFiles = Self(rawValue: 1 << 8)
        /// Remove files.
        package static let removeFiles = Self(rawValue: 1 << 5)
        /// Create and remove Unix sockets.
        package static let changeSockets = Self(rawValue: 1 << 9 | 1 << 5 | 1 << 3)
        /// Read and write files, and create, remove, rename and link files, folders, links and sockets. Moving a file
        /// between two folders requires equal rights for both, so there is one set for everything that changes.
        package static let change: Self = [
            .read, .write, .createFiles, .removeFiles, .changeSockets,
            Self(rawValue: 1 << 4 | 1 << 7 | 1 << 12 | 1 << 13),
        ]

        /// The rights that apply to a single file: execute, write, read, truncate and device controls.
        static let ofFiles = Self(rawValue: 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15)

        /// All rights of a version of Landlock. It does not restrict any others.
        static func known(to version: Int32) -> Self {
            let count = version >= 5 ? 16 : version >= 3 ? 15 : 14
            return Self(rawValue: 1 << UInt64(count) - 1)
        }
    }

    /// Which connections the process may open.
    package struct Network: Sendable {
        /// Whether the process may connect to TCP ports.
        package var connects = false
        /// Whether the process may connect to abstract Unix sockets.
        package var usesAbstractSockets = false

        package init() {}
    }

    /// The first version with which files can be moved between folders (Linux 5.19).
    private static let firstUsableVersion: Int32 = 2

    /// The version of Landlock in the running kernel; 0 if it is missing, disabled, or not permitted.
    package static let version = max(0, landlockVersion())

    /// Whether Landlock can be used.
    package static var isAvailable: Bool { version >= firstUsableVersion }

    private let rules: FileDescriptor
    private let known: FileRights

    /// Creates rules that permit no file. Version 4 and later (Linux 6.7) also refuse to bind TCP ports and to connect to them,
    /// and version 6 and later (Linux 6.12) refuse abstract sockets and signals to other processes.
    package init(network: Network) throws(SystemError) {
        let version = Self.version
        known = .known(to: version)
        let (bindTCP, connectTCP) = (UInt64(1 << 0), UInt64(1 << 1))
        let (abstractSockets, signals) = (UInt64(1 << 0), UInt64(1 << 1))
        let refused = version >= 4 ? bindTCP | (network.connects ? 0 : connectTCP) : 0
        let scopes = version >= 6 ? signals | (network.usesAbstractSockets ? 0 : abstractSockets) : 0
        let known = known.rawValue
        let number = try checked("landlock_create_ruleset") {
            landlockRules(version, known, refused, scopes)
        }
        rules = FileDescriptor(owning: number)
    }

    /// Grants rights to a file, or to everything below a folder. A link is followed.
    /// - Returns: false if nothing with this name exists or can be opened, so that there is nothing to permit.
    package borrowing func allow(_ path: String, _ rights: FileRights) throws(SystemError) -> Bool {
        let (number, rights) = (rules.rawValue, rights.intersection(known).rawValue)
        do throws(SystemError) {
            _ = try unsafe withCPath(Array(path.utf8)) { text throws(SystemError) in
                try checked("landlock_add_rule") {
                    unsafe landlockAllow(number, rights, text)
                }
            }
            return true
        } catch {
            switch error.errno {
            case ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG: return false
            default: throw error
            }
        }
    }

    /// Applies the rules to the calling thread and to all threads and processes that it starts, permanently.
    package consuming func enforce() throws(SystemError) {
        try ProcessPrivileges.giveUpNewOnes()
        let number = rules.rawValue
        _ = try checked("landlock_restrict_self") { landlockRestrict(number) }
    }
}

#if os(Linux)
private func landlockVersion() -> Int32 { davit_landlock_version() }

private func landlockRules(_ version: Int32, _ files: UInt64, _ network: UInt64, _ scopes: UInt64) -> Int32 {
    davit_landlock_create(version, files, network, scopes)
}

private func landlockAllow(_ rules: Int32, _ rights: UInt64, _ path: UnsafePointer<CChar>) -> Int32 {
    unsafe davit_landlock_allow(rules, path, rights, FileAccessRules.FileRights.ofFiles.rawValue)
}

private func landlockRestrict(_ rules: Int32) -> Int32 { davit_landlock_restrict(rules) }
#else
private func landlockVersion() -> Int32 { 0 }
private func landlockRules(_: Int32, _: UInt64, _: UInt64, _: UInt64) -> Int32 { unsupported() }
private func landlockAllow(_: Int32, _: UInt64, _: UnsafePointer<CChar>) -> Int32 { unsupported() }
private func landlockRestrict(_: Int32) -> Int32 { unsupported() }

private func unsupported() -> Int32 {
    errno = ENOTSUP
    return -1
}
#endif
