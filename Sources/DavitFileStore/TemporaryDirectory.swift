public import DavitHTTP
public import DavitStore
public import DavitSystem

/// A folder for unnamed files, which are removed when they are closed, at the latest when the process ends.
public final class TemporaryDirectory: Sendable {
    private let root: RootDirectory

    /// - Throws: the system error if `path` is not a folder that can be opened.
    public init(path: String) throws(SystemError) { root = try RootDirectory(opening: path) }

    /// Returns the first usable folder of `TMPDIR`, `/var/tmp` and `/tmp`. `/tmp` comes last because it is in
    /// memory on many systems, and therefore unsuitable for content that is too long for memory.
    public static func ofSystem() throws(SystemError) -> TemporaryDirectory {
        try TemporaryDirectory(path: systemPath())
    }

    /// Returns the path of the folder that ``ofSystem()`` opens. SQLite chooses its folder for temporary files in the same way.
    package static func systemPath() -> String {
        for path in [Environment.variable("TMPDIR"), "/var/tmp"] {
            if let path, let folder = try? TemporaryDirectory(path: path),
                (try? folder.root.descriptor.checkWritable([UInt8(ascii: ".")])) != nil
            {
                return path
            }
        }
        return "/tmp"
    }

    /// - Parameter expectedBytes: the expected length, if known; `outOfSpace` is thrown immediately if the
    ///   volume has less free space.
    public func makeFile(expectedBytes: Int64?) throws(StoreError) -> UnnamedFile {
        let file = try storing { () throws(SystemError) in try makeFile() }
        let space = try storing { () throws(SystemError) in try root.descriptor.space() }
        if let expectedBytes, space.available < expectedBytes { throw .outOfSpace }
        return file
    }

    /// Creates an unnamed file or, on volumes without such files, a file whose name is removed while it is
    /// empty.
    private func makeFile() throws(SystemError) -> UnnamedFile {
        do throws(SystemError) {
            return UnnamedFile(try root.descriptor.openUnnamed(permissions: 0o600), canHaveName: true)
        } catch {
            guard error.isUnsupported || error.code == .isDirectory else { throw error }
            let name = ReservedName.random()
            let file = try root.descriptor.open(name.bytes, for: .newContent, permissions: 0o600)
            try root.descriptor.unlink(name.bytes)
            return UnnamedFile(file, canHaveName: false)
        }
    }
}

/// Content without a name. Calls block and must be made by one task at a time.
public final class UnnamedFile: Sendable {
    private let file: FileDescriptor
    private let canHaveName: Bool
    /// Whether the volume is in memory, so that writes never wait for a disk.
    public let isInMemory: Bool

    init(_ file: consuming FileDescriptor, canHaveName: Bool) {
        isInMemory = file.isInMemory
        self.file = file
        self.canHaveName = canHaveName
    }

    /// Appends `bytes`.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        try storing { () throws(SystemError) in try unsafe file.writeAll(bytes) }
    }

    /// Appends bytes from `offset` to `buffer`.
    /// - Returns: the number of bytes read; 0 at the end.
    public func read(at offset: Int64, into buffer: IOBuffer) throws(StoreError) -> Int {
        try storing { () throws(SystemError) in
            try unsafe buffer.fill { room throws(SystemError) in try unsafe file.read(at: offset, into: room)
            }
        }
    }

    /// Gives the content a name, atomically: links the file itself if the name is on the same volume and that
    /// volume has unnamed files, otherwise a copy.
    ///
    /// - Parameters:
    ///   - path: the path of a file in an existing folder. Symbolic links are followed, except in the last
    ///     segment.
    ///   - isReplacing: whether an existing file is replaced, atomically. If false, an existing file causes
    ///     `alreadyExists`.
    public func keep(at path: String, isReplacing: Bool) throws(StoreError) {
        let (folder, name) = Self.parts(of: Array(path.utf8))
        // A name in the reserved format would be treated as a leftover and removed.
        guard !name.isEmpty, name != [UInt8(ascii: ".")], name != Array("..".utf8), !name.contains(0),
            ReservedName(name) == nil
        else { throw .invalidName }
        let root = try storing(absent: .missingAncestor) { () throws(SystemError) in
            try RootDirectory(opening: folder)
        }
        if canHaveName {
            do throws(StoreError) {
                try storing { () throws(SystemError) in try file.setMode(0o666 & ~Umask.bits) }
                return try Self.name(file, name, in: root.descriptor, isReplacing: isReplacing)
            } catch {
                guard error == .crossVolume else { throw error }
            }
        }
        try keepCopy(name, in: root.descriptor, isReplacing: isReplacing)
    }

    private func keepCopy(
        _ name: [UInt8], in folder: borrowing FileDescriptor, isReplacing: Bool
    ) throws(StoreError) {
        let unnamed: FileDescriptor
        do throws(SystemError) {
            unnamed = try folder.openUnnamed(permissions: 0o666)
        } catch {
            guard error.isUnsupported || error.code == .isDirectory else { throw StoreError(error) }
            return try keepNamedCopy(name, in: folder, isReplacing: isReplacing)
        }
        try copy(to: unnamed)
        try Self.name(unnamed, name, in: folder, isReplacing: isReplacing)
    }

    /// Gives a copy of the content a name, on volumes without unnamed files.
    private func keepNamedCopy(
        _ name: [UInt8], in folder: borrowing FileDescriptor, isReplacing: Bool
    ) throws(StoreError) {
        let reservation = try Reservation.make(.file, in: folder)
        do throws(StoreError) {
            try copy(to: reservation.file)
            try storing { () throws(SystemError) in
                try reservation.file.setMode(0o666 & ~Umask.bits)
                if isReplacing {
                    try folder.rename(reservation.name.bytes, to: folder, as: name)
                } else {
                    try folder.link(reservation.name.bytes, to: folder, as: name)
                    // If this fails in a shared folder, a sweep removes the name later.
                    try? folder.unlink(reservation.name.bytes)
                }
            }
        } catch {
            try? folder.unlink(reservation.name.bytes)
            throw error
        }
    }

    private func copy(to target: borrowing FileDescriptor) throws(StoreError) {
        let buffer = IOBuffer(capacity: 256 << 10)
        var offset: Int64 = 0
        while try read(at: offset, into: buffer) > 0 {
            try storing { () throws(SystemError) in
                try unsafe buffer.withBytes { bytes throws(SystemError) in try unsafe target.writeAll(bytes) }
            }
            offset += Int64(buffer.count)
            buffer.removeAll()
        }
    }

    private static func name(
        _ file: borrowing FileDescriptor, _ name: [UInt8], in folder: borrowing FileDescriptor,
        isReplacing: Bool
    ) throws(StoreError) {
        try storing(absent: .missingAncestor) { () throws(SystemError) in
            isReplacing
                ? try file.linkUnnamed(over: name, in: folder) : try file.linkUnnamed(to: folder, as: name)
        }
    }

    private static func parts(of path: [UInt8]) -> (folder: String, name: [UInt8]) {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        return (
            slash == 0 ? "/" : String(decoding: path[..<slash], as: UTF8.self), Array(path[(slash + 1)...])
        )
    }
}

extension FileDescriptor {
    /// Gives this unnamed file a name, atomically replacing an existing file.
    ///
    /// An unnamed file can only be linked to a free name, so it first gets a reserved one.
    borrowing func linkUnnamed(
        over name: [UInt8], in directory: borrowing FileDescriptor
    ) throws(SystemError) {
        let reserved = ReservedName.random()
        // Lock before naming the file, so that no sweep can remove it.
        _ = try? tryLock()
        try linkUnnamed(to: directory, as: reserved.bytes)
        do {
            try directory.rename(reserved.bytes, to: directory, as: name)
        } catch {
            try? directory.unlink(reserved.bytes)
            throw error
        }
    }
}
