internal import DavitHTTP
internal import DavitServer
internal import DavitSystem

/// Objects as files of a folder, which can be on a volume that several nodes use.
///
/// Uses only what network file systems have: an object is written under a temporary name, synced and renamed.
package final class FolderBlobStore: BlobStore {
    private let path: String
    private let syncs: Bool

    /// - Parameters:
    ///   - path: the folder.
    ///   - syncs: whether objects survive a power failure.
    ///   - creates: whether the folder is created if it is missing.
    package init(path: String, syncs: Bool = true, creates: Bool = true) throws(BlobError) {
        self.syncs = syncs
        self.path = path.hasSuffix("/") && path != "/" ? String(path.dropLast()) : path
        do throws(SystemError) {
            guard creates else {
                _ = try RootDirectory(opening: self.path)
                return
            }
            for number in 0..<256 {
                let digits = String(number, radix: 16)
                let folder = "\(self.path)/\(number < 16 ? "0" : "")\(digits)"
                if try !ExclusiveFolder.hasEntry(at: folder) { try ExclusiveFolder.makeFolders(folder) }
            }
            guard syncs else { return }
            // Now, so that storing an object only has to sync one folder. Another process may have created some of them.
            try RootDirectory(opening: self.path).descriptor.sync()
            try Self.syncParent(of: self.path)
        } catch {
            throw BlobError(error)
        }
    }

    /// Makes the name of a new folder durable, unless the folder that contains it cannot be read, as in a sandbox.
    private static func syncParent(of path: String) throws(SystemError) {
        do throws(SystemError) { try RootDirectory(opening: path + "/..").descriptor.sync() } catch {
            if !error.isPermissionDenied { throw error }
        }
    }

    /// The folder of an object: one of 256.
    private func folder(of key: BlobKey) -> String { path + "/" + key.text.prefix(2) }

    package func create(_ key: BlobKey) throws(BlobError) -> any BlobWriter {
        try create(key, digests: true)
    }

    /// - Parameter digests: whether ``BlobWriter/finish()`` returns the SHA-256.
    func create(_ key: BlobKey, digests: Bool) throws(BlobError) -> any BlobWriter {
        do throws(SystemError) {
            let folder = try RootDirectory(opening: folder(of: key))
            return try FolderBlobWriter(
                in: folder, as: Array(key.text.utf8), syncs: syncs, digests: digests)
        } catch {
            throw BlobError(error)
        }
    }

    package func open(_ key: BlobKey, digest: [UInt8] = []) throws(BlobError) -> BlobFile {
        do throws(SystemError) {
            let folder = try RootDirectory(opening: folder(of: key))
            let file = try folder.descriptor.open(Array(key.text.utf8), for: .content)
            let length = try file.length()
            return BlobFile(descriptor: file.release(), length: length) { _ = FileDescriptor(owning: $0) }
        } catch {
            throw BlobError(error)
        }
    }

    /// Returns the names of all objects, and removes what unfinished writers have left. No other process may use the folder.
    func keys() throws(BlobError) -> [BlobKey] {
        do throws(SystemError) {
            var keys: [BlobKey] = []
            for folder in try PrivateFolder.names(in: path) ?? [] {
                guard folder.utf8.count == 2, let names = try PrivateFolder.names(in: "\(path)/\(folder)")
                else {
                    continue
                }
                let open = try RootDirectory(opening: "\(path)/\(folder)")
                for name in names {
                    if let key = BlobKey(name) {
                        keys.append(key)
                    } else {
                        try open.descriptor.unlink(Array(name.utf8))
                    }
                }
            }
            return keys
        } catch {
            throw BlobError(error)
        }
    }

    package func remove(_ key: BlobKey) throws(BlobError) {
        let name = Array(key.text.utf8)
        // The second one exists if the writer has not finished.
        for name in [name, FolderBlobWriter.temporaryName(of: name)] {
            do throws(SystemError) {
                let folder = try RootDirectory(opening: folder(of: key))
                try folder.descriptor.unlink(name)
            } catch {
                if error.code != .noEntry { throw BlobError(error) }
            }
        }
    }

    package func room() throws(BlobError) -> Int64? {
        do throws(SystemError) { return try RootDirectory(opening: path).descriptor.space().available } catch
        {
            throw BlobError(error)
        }
    }

    private static let marker = "davit-database"

    package func claim(for database: BlobKey) throws(BlobError) {
        let file = path + "/" + Self.marker
        do throws(SystemError) {
            if try !ExclusiveFolder.hasEntry(at: file) { try writeMarker(database.marker) }
        } catch {
            throw BlobError(error)
        }
        if try owner() != database {
            throw .failed(reason: "\(path) contains the content of another database")
        }
    }

    /// Writes the marker, unless another process has done so in the meantime.
    private func writeMarker(_ bytes: [UInt8]) throws(SystemError) {
        let folder = try RootDirectory(opening: path)
        let name = Array(Self.marker.utf8)
        let temporary = Array("\(Self.marker)-\(BlobKey.random().text)\(FolderBlobWriter.suffix)".utf8)
        let file = try folder.descriptor.open(temporary, for: .newContent, permissions: 0o644)
        defer { try? folder.descriptor.unlink(temporary) }
        try unsafe bytes.span.withUnsafeBytes { bytes throws(SystemError) in try unsafe file.writeAll(bytes) }
        if syncs { try file.sync() }
        do throws(SystemError) {
            try folder.descriptor.link(temporary, to: folder.descriptor, as: name)
        } catch {
            if error.code == .exists { return }
            // A volume without hard links. If another database does the same, one of both may notice too late.
            try folder.descriptor.rename(temporary, to: folder.descriptor, as: name)
        }
        if syncs { try folder.descriptor.sync() }
    }

    package func owner() throws(BlobError) -> BlobKey? {
        do throws(SystemError) {
            return BlobKey(marker: try SmallFile(reading: path + "/" + Self.marker).bytes)
        } catch {
            if error.code == .noEntry { return nil }
            throw BlobError(error)
        }
    }

    // MARK: Checks

    /// Opens one of the 256 folders; nil if it is missing.
    private func open(_ folder: UInt8) throws(SystemError) -> RootDirectory? {
        do throws(SystemError) { return try RootDirectory(opening: path + "/" + Self.digits(folder)) } catch {
            if error.code == .noEntry { return nil }
            throw error
        }
    }

    package func list(_ folder: UInt8) throws(BlobError) -> [StoredObject] {
        do throws(SystemError) {
            guard let open = try open(folder) else { return [] }
            var objects: [StoredObject] = []
            var block = DirectoryBlock(capacity: 32 * 1024)
            while try block.read(from: open.descriptor) {
                try block.scan { entry throws(SystemError) in
                    // Network file systems keep removed files that are open under such names.
                    if entry.startsWithDot { return }
                    let length: Int64
                    do throws(SystemError) { length = try open.descriptor.status(of: entry).length } catch {
                        // Removed in the meantime.
                        if error.code == .noEntry { return }
                        throw error
                    }
                    objects.append(
                        Self.object(String(decoding: entry.bytes, as: UTF8.self), length, in: folder))
                }
            }
            return objects
        } catch {
            throw BlobError(error)
        }
    }

    private static func object(_ name: String, _ length: Int64, in folder: UInt8) -> StoredObject {
        let isComplete = !name.hasSuffix(FolderBlobWriter.suffix)
        let key = BlobKey(isComplete ? name : String(name.dropLast(FolderBlobWriter.suffix.utf8.count)))
        return StoredObject(
            name: name, key: key?.folder == folder ? key : nil, isComplete: isComplete || key == nil,
            length: length)
    }

    /// Asks for each object, because network file systems may return an old list of a folder.
    package func lengths(of keys: [BlobKey], in folder: UInt8) throws(BlobError) -> [BlobKey: Int64] {
        do throws(SystemError) {
            guard let open = try open(folder) else { return [:] }
            var lengths: [BlobKey: Int64] = [:]
            for key in keys {
                do throws(SystemError) {
                    lengths[key] = try open.descriptor.status(of: Array(key.text.utf8)).length
                } catch {
                    if error.code != .noEntry { throw error }
                }
            }
            return lengths
        } catch {
            throw BlobError(error)
        }
    }

    package func digest(of key: BlobKey) throws(BlobError) -> [UInt8]? {
        guard let digest = RunningDigest(.sha256) else { return nil }
        let file = try open(key)
        let buffer = IOBuffer(capacity: 1 << 20)
        var offset: Int64 = 0
        while true {
            buffer.removeAll()
            let count = try file.read(at: offset, count: buffer.freeCount, into: buffer)
            if count == 0 { return digest.finish()?.bytes }
            unsafe buffer.withBytes { unsafe digest.update($0) }
            offset += Int64(count)
        }
    }
}

/// A file under a temporary name.
///
/// The conformance is unchecked: calls do not overlap, see `BlobWriter`.
private final class FolderBlobWriter: BlobWriter, @unchecked Sendable {
    private let folder: RootDirectory
    private let name: [UInt8]
    private let temporary: [UInt8]
    private let file: FileDescriptor
    private let digest: RunningDigest?
    private let syncs: Bool
    private var isFinished = false
    private(set) var length: Int64 = 0

    init(
        in folder: consuming RootDirectory, as name: [UInt8], syncs: Bool, digests: Bool
    ) throws(SystemError) {
        self.syncs = syncs
        digest = digests ? RunningDigest(.sha256) : nil
        let temporary = Self.temporaryName(of: name)
        file = try folder.descriptor.open(temporary, for: .newContent, permissions: 0o600)
        self.temporary = temporary
        self.name = name
        self.folder = folder
    }

    static let suffix = ".new"

    static func temporaryName(of name: [UInt8]) -> [UInt8] { name + Array(suffix.utf8) }

    deinit {
        if !isFinished { try? folder.descriptor.unlink(temporary) }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
        do throws(SystemError) { try unsafe file.writeAll(bytes) } catch { throw BlobError(error) }
        unsafe digest?.update(bytes)
        length += Int64(bytes.count)
    }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(BlobError) -> Int {
        do throws(SystemError) { return try unsafe file.read(at: offset, into: buffer) } catch {
            throw BlobError(error)
        }
    }

    func finish() throws(BlobError) -> [UInt8]? {
        do throws(SystemError) {
            if syncs { try file.sync() }
            try folder.descriptor.rename(temporary, to: folder.descriptor, as: name)
            isFinished = true
            if syncs { try folder.descriptor.sync() }
        } catch {
            throw BlobError(error)
        }
        return digest?.finish()?.bytes
    }
}

extension BlobError {
    init(_ error: SystemError) {
        switch error.code {
        case .noEntry: self = .notFound
        case .noSpace, .overQuota: self = .outOfSpace
        default: self = .failed(reason: error.description)
        }
    }
}
