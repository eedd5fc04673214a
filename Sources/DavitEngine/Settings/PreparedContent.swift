internal import DavitHTTP
internal import DavitStore

/// Received content that does not have a name yet: small content in memory, larger content in a hidden
/// temporary file.
enum PreparedContent: Sendable {
    case buffered(IOBuffer)
    case staged(any StagedContent)

    /// The length in bytes.
    var length: Int64 {
        switch self {
        case .buffered(let buffer): Int64(buffer.count)
        case .staged(let content): content.length
        }
    }
}
