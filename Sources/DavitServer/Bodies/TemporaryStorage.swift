public import DavitHTTP

/// Where content is kept that is too long for memory. All calls block; they are made where that is allowed.
public protocol TemporaryStorage: Sendable {
    /// A new file that nobody else can open. It goes with the object, and with the process however that ends.
    ///
    /// - Parameter expectedBytes: how much will come, if that is known.
    /// - Throws: `outOfSpace` already now where there is no room for what is expected.
    func makeFile(expectedBytes: Int64?) throws(TemporaryStorageError) -> any TemporaryStore
}

/// The bytes of one piece of content. Used by one task at a time.
public protocol TemporaryStore: AnyObject, Sendable {
    /// There is no disk that could be waited for: bytes are appended where they are, without a hop. False unless
    /// implemented.
    var isInMemory: Bool { get }

    /// Appends to what was written before.
    func append(_ bytes: UnsafeRawBufferPointer) throws(TemporaryStorageError)

    /// Reads from `offset` on behind what `buffer` holds.
    /// - Returns: how many bytes were read; 0 at the end.
    func read(at offset: Int64, into buffer: IOBuffer) throws(TemporaryStorageError) -> Int

    /// Gives the content a name, whole or not at all; it stays when this object goes. Asked once.
    ///
    /// - Parameters:
    ///   - path: of the file; its folder exists.
    ///   - isReplacing: what has the name may go. Else `alreadyExists` is thrown.
    func keep(at path: String, isReplacing: Bool) throws(TemporaryStorageError)
}

extension TemporaryStore {
    public var isInMemory: Bool { false }
}

/// Why content was not kept.
public enum TemporaryStorageError: Error, Hashable, Sendable {
    /// 507: the volume or the quota is full.
    case outOfSpace
    /// 503: no descriptor or memory left, or too much work waits.
    case busy
    /// 409: the name is taken.
    case alreadyExists
    /// 400: no file can have the name.
    case unusableName
    /// 500; `reason` is for the log.
    case failed(reason: String)

    /// What the client gets; nil for what is nobody's business but the log's.
    var httpError: HTTPError? {
        switch self {
        case .outOfSpace: HTTPError(.insufficientStorage, "There is no room for the content.")
        case .busy: HTTPError(.serviceUnavailable, "The server has too much to do.")
        case .alreadyExists: HTTPError(.conflict, "There is a file of this name.")
        case .unusableName: HTTPError(.badRequest, "No file can have this name.")
        case .failed: nil
        }
    }
}
