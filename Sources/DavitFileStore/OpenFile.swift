internal import DavitHTTP
internal import DavitSystem

/// Content that is open for reading: the same bytes even if another file gets the name.
final class OpenFile: FileContent {
    private let file: FileDescriptor
    let length: Int64

    init(_ file: consuming FileDescriptor, length: Int64) {
        self.file = file
        self.length = length
    }

    var descriptor: Int32 { file.rawValue }
}
