internal import DavitFileStore
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// The temporary folder for request content. Unless a path is specified, it is opened on first use, because
/// most servers never need it.
final class DiskStorage: TemporaryStorage {
    private let path: String?
    private let folder = AtomicLazyReference<TemporaryDirectory>()

    /// Opens the folder at `path`, if specified.
    ///
    /// - Parameter path: the folder; nil for the system's temporary folder, which is opened later.
    /// - Throws: ``ServerError/temporaryFolderNotUsable(path:_:)``.
    init(path: String?) throws(ServerError) {
        self.path = path
        guard let path else { return }
        do throws(SystemError) { _ = folder.storeIfNil(try TemporaryDirectory(path: path)) } catch {
            throw .temporaryFolderNotUsable(path: path, error)
        }
    }

    func makeFile(expectedBytes: Int64?) throws(TemporaryStorageError) -> any TemporaryContent {
        let folder: TemporaryDirectory
        do throws(SystemError) {
            if let opened = self.folder.load() {
                folder = opened
            } else {
                folder = self.folder.storeIfNil(try .ofSystem())
            }
        } catch {
            throw .failed(reason: error.description)
        }
        return try Self.storing { () throws(StoreError) in
            DiskStore(try folder.makeFile(expectedBytes: expectedBytes))
        }
    }

    fileprivate static func storing<T>(
        _ body: () throws(StoreError) -> T
    ) throws(TemporaryStorageError) -> T {
        do throws(StoreError) { return try body() } catch {
            switch error {
            case .outOfSpace, .quotaExceeded: throw .outOfSpace
            case .busy, .wouldBlock, .rightsChanged: throw .busy
            case .alreadyExists: throw .alreadyExists
            case .invalidName, .nameTooLong: throw .unusableName
            case .failed(let reason): throw .failed(reason: reason)
            case .notFound, .missingAncestor, .wrongKind, .forbidden, .crossVolume, .loop, .tooDeep,
                .superseded:
                throw .failed(reason: error.text)
            }
        }
    }
}

private final class DiskStore: TemporaryContent {
    private let file: UnnamedFile

    init(_ file: UnnamedFile) { self.file = file }

    var isInMemory: Bool { file.isInMemory }

    func append(_ bytes: UnsafeRawBufferPointer) throws(TemporaryStorageError) {
        try DiskStorage.storing { () throws(StoreError) in try unsafe file.write(bytes) }
    }

    func read(at offset: Int64, into buffer: IOBuffer) throws(TemporaryStorageError) -> Int {
        try DiskStorage.storing { () throws(StoreError) in try file.read(at: offset, into: buffer) }
    }

    func keep(at path: String, isReplacing: Bool) throws(TemporaryStorageError) {
        try DiskStorage.storing { () throws(StoreError) in
            try file.keep(at: path, isReplacing: isReplacing)
        }
    }
}
