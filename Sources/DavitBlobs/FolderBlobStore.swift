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
    ///   - path: the folder, which is created if it is missing.
    ///   - syncs: whether objects survive a power failure.
    package init(path: String, syncs: Bool = true) throws(BlobError) {
        self.syncs = syncs
        self.path = path.hasSuffix("/") && path != "/" ? String(path.dropLast()) : path
        do throws(SystemError) {
            for number in 0..<256 {
                let digits = String(number, radix: 16)
                let folder = "\(self.path)/\(number < 16 ? "0" : "")\(digits)"
                if try !ExclusiveFolder.hasEntry(at: folder) { try ExclusiveFolder.makeFolders(folder) }
            }
            guard syncs else { return }
            // Now, so that storing an object only has to sync one folder. Another process may have created some of them.
            try RootDirectory(opening: self.path).descriptor.sync()
            try RootDirectory(opening: self.path + "/..").descriptor.sync()
        } catch {
            throw BlobError(error)
        }
    }

    /// The folder of an object: one of 256.
    private func folder(of key: BlobKey) -> String { path + "/" + key.text.prefix(2) }

    package func create(_ key: BlobKey) throws(BlobError) -> any BlobWriter {
        do throws(SystemError) {
            let folder = try RootDirectory(opening: folder(of: key))
            return try FolderBlobWriter(in: folder, as: Array(key.text.utf8), syncs: syncs)
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
        let content = Array((database.text + "\n").utf8)
        let owner: [UInt8]
        do throws(SystemError) {
            if try !ExclusiveFolder.hasEntry(at: file) {
                try SmallFile.write(content, to: file, mode: 0o644)
            }
            owner = try SmallFile(reading: file).bytes
        } catch {
            throw BlobError(error)
        }
        if owner != content { throw .failed(reason: "\(path) contains the content of another database") }
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
    private let digest = RunningDigest(.sha256)
    private let syncs: Bool
    private var isFinished = false
    private(set) var length: Int64 = 0

    init(
        in folder: consuming RootDirectory, as name: [UInt8], syncs: Bool
    ) throws(SystemError) {
        self.syncs = syncs
        let temporary = Self.temporaryName(of: name)
        file = try folder.descriptor.open(temporary, for: .newContent, permissions: 0o600)
        self.temporary = temporary
        self.name = name
        self.folder = folder
    }

    static func temporaryName(of name: [UInt8]) -> [UInt8] { name + Array(".new".utf8) }

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
