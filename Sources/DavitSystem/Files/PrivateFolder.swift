#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A folder whose files only their owner can access.
package struct PrivateFolder: ~Copyable, Sendable {
    private let folder: FileDescriptor

    /// Creates the folder (mode 0700) if it is missing, but not its parents.
    package init(making path: String) throws(SystemError) {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
            throw SystemError(errno: errno, call: "mkdir")
        }
        let number = try unsafe withCPath(Array(path.utf8)) { text throws(SystemError) in
            try FileCall.run("open") { unsafe openAt(AT_FDCWD, text, OpenMode.entries.flags, 0) }
        }
        folder = FileDescriptor(owning: number)
    }

    /// Returns the names of the members, in unspecified order.
    package borrowing func names() throws(SystemError) -> [String] {
        var names: [String] = []
        var block = DirectoryBlock(capacity: 32 * 1024)
        while try block.read(from: folder) {
            block.scan { names.append(String(decoding: $0.bytes, as: UTF8.self)) }
        }
        return names
    }

    /// Creates a file, which must not exist yet, with mode 0600.
    package borrowing func make(_ name: String, content: [UInt8]) throws(SystemError) {
        let file = try folder.open(Array(name.utf8), for: .newContent, permissions: 0o600)
        try unsafe content.span.withUnsafeBytes { bytes throws(SystemError) in try unsafe file.writeAll(bytes)
        }
    }

    /// Appends to an existing file.
    package borrowing func add(_ content: [UInt8], to name: String) throws(SystemError) {
        let file = try folder.open(Array(name.utf8), for: .addition)
        try unsafe content.span.withUnsafeBytes { bytes throws(SystemError) in try unsafe file.writeAll(bytes)
        }
    }
}

extension PrivateFolder {
    /// Returns the names in a folder, sorted; nil if `path` is not a folder.
    package static func names(in path: String) throws(SystemError) -> [String]? {
        let root: RootDirectory
        do throws(SystemError) { root = try RootDirectory(opening: path) } catch {
            if error.code == .notDirectory { return nil }
            throw error
        }
        var names: [String] = []
        var block = DirectoryBlock(capacity: 32 * 1024)
        while try block.read(from: root.descriptor) {
            block.scan { names.append(String(decoding: $0.bytes, as: UTF8.self)) }
        }
        return names.sorted()
    }
}
