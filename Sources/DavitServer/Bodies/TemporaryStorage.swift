public import DavitHTTP

/// Storage for content that is too long for memory. All methods may block and are called on threads that
/// allow it.
public protocol TemporaryStorage: Sendable {
    /// Creates a file that no other process can open. It is deleted with the object, and in any case when the
    /// process ends.
    ///
    /// - Parameter expectedBytes: the expected length, if known.
    /// - Throws: `outOfSpace` if `expectedBytes` exceeds the available space.
    func makeFile(expectedBytes: Int64?) throws(TemporaryStorageError) -> any TemporaryContent
}

/// The stored bytes of one piece of content. Used by one task at a time.
public protocol TemporaryContent: AnyObject, Sendable {
    /// Whether the bytes are in memory, so that appending does not block and needs no thread switch. False by
    /// default.
    var isInMemory: Bool { get }

    /// Appends bytes at the end.
    func append(_ bytes: UnsafeRawBufferPointer) throws(TemporaryStorageError)

    /// Appends the content that begins at `offset` to `buffer`.
    /// - Returns: the number of bytes read; 0 at the end.
    func read(at offset: Int64, into buffer: IOBuffer) throws(TemporaryStorageError) -> Int

    /// Moves the content atomically to `path`, where it remains when this object is released. Called again
    /// only after an error.
    ///
    /// - Parameters:
    ///   - path: the path of the file, in an existing folder.
    ///   - isReplacing: whether an existing file may be replaced. If false, an existing file causes
    ///     `alreadyExists`.
    func keep(at path: String, isReplacing: Bool) throws(TemporaryStorageError)
}

extension TemporaryContent {
    public var isInMemory: Bool { false }
}

/// The reason why content could not be stored.
public enum TemporaryStorageError: Error, Hashable, Sendable {
    /// The volume or quota is full; answered with 507.
    case outOfSpace
    /// No descriptor or memory is available, or too much work is queued; answered with 503.
    case busy
    /// The path exists; answered with 409.
    case alreadyExists
    /// The file name is invalid; answered with 400.
    case unusableName
    /// Another error; answered with 500. `reason` is for the log.
    case failed(reason: String)

    /// The error to send to the client; nil if it belongs only in the log.
    var httpError: HTTPError? {
        switch self {
        case .outOfSpace: HTTPError(.insufficientStorage, "Not enough storage space.")
        case .busy: HTTPError(.serviceUnavailable, "The server is busy. Try again later.")
        case .alreadyExists: HTTPError(.conflict, "A file with this name already exists.")
        case .unusableName: HTTPError(.badRequest, "Invalid file name.")
        case .failed: nil
        }
    }
}
