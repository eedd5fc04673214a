package import DavitSystem

/// What a running server can do: with Landlock, the files and connections that it uses, and with seccomp, its system calls.
package struct Sandbox: Sendable {
    /// A restriction that is missing, because the kernel or the build does not have it.
    package enum Gap: Error, Hashable, Sendable {
        case files(reason: String)
        case systemCalls(reason: String)

        /// A message for people.
        package var text: String {
            switch self {
            case .files(let reason): "files and connections are not restricted: \(reason)"
            case .systemCalls(let reason): "system calls are not restricted: \(reason)"
            }
        }
    }

    /// Folders in which the server creates, changes, moves and removes files and folders.
    package var changed: [String] = []
    /// Files that the server appends to, and creates again when they have been renamed.
    package var logs: [String] = []
    /// Like ``logs``, but the server also reads them.
    package var readableLogs: [String] = []
    /// Like ``readableLogs``, but the server also renames them in their folder.
    package var rotatedLogs: [String] = []
    /// Unix sockets that the server creates and removes.
    package var sockets: [String] = []
    /// Folders for temporary files.
    package var temporary: [String] = []
    /// Folders that the server reads.
    package var read: [String] = []
    /// Files that the server reads, and reads again when they are replaced.
    package var replaceable: [String] = []
    package var network = FileAccessRules.Network()

    package init() {}

    /// What libc and the libraries of a server read at any time: locales, converters of character sets, time zones, the
    /// settings of OpenSSL, and facts about this process and machine.
    private static let system = [
        "/proc/self", "/sys/devices/system/cpu", "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random",
        "/etc/localtime", "/etc/ld.so.cache", "/etc/ssl", "/usr/lib", "/usr/lib32", "/usr/lib64",
        "/usr/local/lib",
        "/lib", "/lib32", "/lib64", "/usr/share/zoneinfo", "/usr/share/locale", "/usr/share/ca-certificates",
    ]

    /// What libc, libldap and libcurl read to find other hosts. The folder `/etc`, because `resolv.conf` in it is replaced
    /// when the network changes.
    package static let nameServices = [
        "/etc", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/usr/share/libc-bin",
    ]

    /// Restricts this process permanently. Must be called before other threads are started.
    /// - Returns: the restrictions that are missing.
    /// - Throws: the system error if a restriction that the kernel supports cannot be applied.
    package func enter() throws(SystemError) -> [Gap] {
        if let count = ProcessPrivileges.threadCount, count > 1 {
            // EBUSY
            throw SystemError(errno: 16, call: "landlock_restrict_self")
        }
        try ProcessPrivileges.giveUpNewOnes()
        var gaps = Self.gaps
        if FileAccessRules.isAvailable { try restrictFiles() }
        if SystemCallFilter.isAvailable {
            do throws(SystemError) { try SystemCallFilter.install(connects: network.connects) } catch {
                gaps.append(.systemCalls(reason: error.description))
            }
        }
        return gaps
    }

    /// The restrictions that this kernel or this build does not have. Whether the kernel supports filters of system calls is only
    /// known after ``enter()``.
    package static var gaps: [Gap] {
        var gaps: [Gap] = []
        if !FileAccessRules.isAvailable {
            gaps.append(.files(reason: "this needs Linux 5.19 or later with Landlock"))
        }
        if !SystemCallFilter.isAvailable {
            gaps.append(.systemCalls(reason: "this build does not include libseccomp"))
        }
        return gaps
    }

    private func restrictFiles() throws(SystemError) {
        let rules = try FileAccessRules(network: network)
        for path in changed { _ = try rules.allow(path, .change) }
        for path in logs { _ = try rules.allow(Self.folder(of: path), [.write, .createFiles]) }
        for path in readableLogs {
            _ = try rules.allow(Self.folder(of: path), [.readFiles, .write, .createFiles])
        }
        for path in rotatedLogs {
            _ = try rules.allow(Self.folder(of: path), [.readFiles, .write, .createFiles, .removeFiles])
        }
        for path in sockets { _ = try rules.allow(Self.folder(of: path), .changeSockets) }
        for path in temporary { _ = try rules.allow(path, [.readFiles, .write, .createFiles, .removeFiles]) }
        for path in read + Self.system { _ = try rules.allow(path, .read) }
        for path in replaceable {
            for folder in Self.foldersOnTheWay(to: path) { _ = try rules.allow(folder, .readFiles) }
        }
        try rules.enforce()
    }

    /// Returns the folder of a file, and if the file is a link, also those of the files that it leads to: each of them can be
    /// replaced. For a file in the root folder, returns the file, because the rule for the folder would permit all files.
    static func foldersOnTheWay(to path: String) -> [String] {
        var folders: [String] = []
        var path = path
        for _ in 0..<linkLimit {
            let folder = Self.folder(of: path)
            folders.append(folder == "/" ? path : folder)
            let name = path.split(separator: "/").last.map { Array($0.utf8) } ?? []
            guard let bytes = try? RootDirectory(opening: folder).descriptor.readLink(name) else { break }
            let target = String(decoding: bytes, as: UTF8.self)
            path = target.hasPrefix("/") ? target : "\(folder)/\(target)"
        }
        return folders
    }

    /// The maximum number of links that the kernel follows.
    private static let linkLimit = 40

    /// Returns the folder that contains the file at a path.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
