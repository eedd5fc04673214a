internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Content that is open for reading; this object refers to the same file even if its name is reused.
final class OpenFile: FileContent {
    private let file: FileDescriptor
    let length: Int64
    let volume: UInt64

    init(_ file: consuming FileDescriptor, length: Int64, volume: UInt64) {
        self.file = file
        self.length = length
        self.volume = volume
    }

    var descriptor: Int32 { file.rawValue }

    /// See ``ResourceReader/read(_:at:into:)``.
    func read(at offset: Int64, into buffer: IOBuffer) throws(StoreError) -> Int {
        try storing { () throws(SystemError) in
            try unsafe buffer.fill { bytes throws(SystemError) in
                try unsafe file.read(at: offset, into: bytes)
            }
        }
    }
}

/// A file that stays open between requests, with its status when it was opened.
final class CachedOpenFile: Sendable {
    /// The maximum number of these files in a shared folder.
    static let countLimit = 4096

    let status: FileStatus
    let resource: OpenResource

    init(status: FileStatus, resource: OpenResource) {
        self.status = status
        self.resource = resource
    }
}
