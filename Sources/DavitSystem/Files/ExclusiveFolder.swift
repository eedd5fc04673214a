#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A folder that only one process may use at a time. The lock on a file in the folder is held for the
/// lifetime of the object.
public final class ExclusiveFolder: Sendable {
    public enum Failure: Error, Sendable, Equatable {
        /// The lock is held, usually by another process. Contains the process ID if the lock file specifies
        /// it.
        case held(byProcess: Int32?)
        case notUsable(SystemError)
    }

    /// The canonical absolute path.
    public let path: String
    private let lock: FileDescriptor

    /// Creates the folder and its missing parents (mode 0700), and acquires the lock.
    public init(path: String) throws(Failure) {
        do throws(SystemError) {
            try Self.makeFolders(path)
            self.path = try Self.canonical(path)
        } catch {
            throw .notUsable(error)
        }
        lock = try Self.takeLock(in: self.path)
    }

    // Closing alone is not sufficient: if another thread is starting a process, that process inherits the
    // descriptor until exec, and with it the lock.
    deinit { _ = flock(lock.rawValue, LOCK_UN) }

    /// Waits until the name of the folder and the names of its files are on the disk.
    public func sync() throws(SystemError) {
        let folder = try Self.openFolder(path)
        do throws(SystemError) {
            try folder.sync()
            let parent: FileDescriptor
            do throws(SystemError) { parent = try Self.openFolder(path + "/..") } catch {
                // The server may not read the folder that contains this one, for example in a sandbox.
                guard error.code == .accessDenied else { throw error }
                return try folder.syncVolume()
            }
            try parent.sync()
        } catch {
            guard error.isUnsupported else { throw error }
        }
    }

    private static func openFolder(_ path: String) throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            owning: try unsafe withCPath(Array(path.utf8)) { text throws(SystemError) in
                try FileCall.run("open") { unsafe openAt(AT_FDCWD, text, OpenMode.entries.flags, 0) }
            })
    }

    /// Returns the absolute path without links.
    /// - Throws: the errors that realpath(3) reports, such as `ENOENT`.
    public static func canonical(_ path: String) throws(SystemError) -> String {
        guard let resolved = unsafe realpath(path, nil) else {
            throw SystemError(errno: errno, call: "realpath")
        }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// Returns the target of a symbolic link; nil if there is none at this path.
    package static func linkTarget(_ path: String) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &target, target.count)
        if count <= 0 { return nil }
        return String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether a path names something, which can be a link that leads nowhere.
    /// - Throws: an error if this cannot be determined.
    package static func hasEntry(at path: String) throws(SystemError) -> Bool {
        var status = stat()
        if unsafe lstat(path, &status) == 0 { return true }
        let error = SystemError(errno: errno, call: "lstat")
        if error.code == .noEntry { return false }
        throw error
    }

    /// Creates a folder and its missing parents (mode 0700).
    package static func makeFolders(_ path: String) throws(SystemError) {
        var ends = path.indices.filter { path[$0] == "/" && $0 != path.startIndex }
        ends.append(path.endIndex)
        var refusal: Int32?
        for end in ends {
            let folder = String(path[..<end])
            if unsafe mkdir(folder, 0o700) == 0 { continue }
            switch errno {
            case EEXIST, EISDIR: break
            // Some systems report these errors for an existing folder.
            case EACCES, EROFS: refusal = errno
            // A parent could not be created.
            case ENOENT: throw SystemError(errno: refusal ?? ENOENT, call: "mkdir")
            case let error: throw SystemError(errno: error, call: "mkdir")
            }
        }
        var status = stat()
        if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            throw SystemError(errno: ENOTDIR, call: "mkdir")
        }
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else {
            if errno == ENOENT, let refusal { throw SystemError(errno: refusal, call: "mkdir") }
            throw SystemError(errno: errno, call: "access")
        }
    }

    private static func takeLock(in folder: String) throws(Failure) -> FileDescriptor {
        let raw = unsafe open(folder + "/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard raw >= 0 else { throw .notUsable(SystemError(errno: errno, call: "open")) }
        let descriptor = FileDescriptor(owning: raw)
        guard flock(raw, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else { throw .notUsable(SystemError(errno: errno, call: "flock")) }
            throw .held(byProcess: readNumber(raw))
        }
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(raw, 0) == 0, unsafe write(raw, text, text.count) == text.count else {
            throw .notUsable(SystemError(errno: errno, call: "write"))
        }
        return descriptor
    }

    private static func readNumber(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count].prefix { $0 != 10 }, as: UTF8.self))
    }
}
