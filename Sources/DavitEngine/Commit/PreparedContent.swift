internal import DavitHTTP
internal import DavitStore

/// What a change has received and not yet given a name: small content in memory, everything else in a new file that
/// nobody sees.
enum PreparedContent: Sendable {
    case buffered(IOBuffer)
    case staged(any StagedContent)

    /// In bytes.
    var length: Int64 {
        switch self {
        case .buffered(let buffer): Int64(buffer.count)
        case .staged(let content): content.length
        }
    }
}
