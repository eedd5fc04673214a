package import DavitHTTP
internal import DavitServer
package import DavitStore

/// Examines the content of uploads, such as for viruses, before it becomes visible to clients.
package protocol UploadCheck: Sendable {
    /// Returns whether content may be stored. Called for each upload whose content has been received completely. Runs
    /// on the event loop and must not block it, but may take any time; see ``ShareConfiguration/uploadCheckLimit``.
    /// Ends early if the task is cancelled, and does not accept the content then.
    func examine(_ upload: ReceivedUpload) async -> UploadVerdict
}

/// The result of an ``UploadCheck``.
package enum UploadVerdict: Hashable, Sendable {
    case accepted
    /// The request fails with 403.
    case refused
    /// The content could not be examined: the request fails with 503.
    case unavailable
}

/// An upload whose content has been received completely but is not yet visible to clients.
package struct ReceivedUpload: Sendable {
    /// The resource, as a canonical path in the share.
    package let path: ResourcePath
    /// ``path`` as a file system path; bytes that are not UTF-8 are replaced.
    package let filePath: String
    /// The account of the client; nil without authentication.
    package let principal: String?
    /// The numeric address of the client.
    package let address: String
    /// The length of the content in bytes.
    package let length: Int64
    private let source: PreparedContent

    init(_ action: ShareAction, _ source: PreparedContent, from address: String) {
        path = action.path
        filePath = action.filePath
        principal = action.principal
        self.address = address
        length = source.length
        self.source = source
    }

    /// Returns up to `count` bytes starting at `offset`; fewer only at the end. Blocks.
    package func bytes(from offset: Int64, count: Int) throws(StoreError) -> [UInt8] {
        try source.bytes(from: offset, count: count)
    }
}

extension PreparedContent {
    /// Returns up to `count` bytes starting at `offset`; fewer only at the end. Blocks, unless the content is in memory.
    func bytes(from offset: Int64, count: Int) throws(StoreError) -> [UInt8] {
        let offset = max(offset, 0)
        let wanted = Int(max(min(Int64(count), length - offset), 0))
        if wanted == 0 { return [] }
        switch self {
        case .buffered(let buffer):
            return unsafe buffer.withBytes { unsafe Array($0[Int(offset)..<Int(offset) + wanted]) }
        case .staged(let staged):
            let buffer = IOBuffer(capacity: wanted)
            while buffer.freeCount > 0 {
                if try staged.read(at: offset + Int64(buffer.count), into: buffer) == 0 { break }
            }
            return unsafe buffer.withBytes { unsafe Array($0) }
        }
    }
}
