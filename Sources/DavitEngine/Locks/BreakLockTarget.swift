package import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A selection of locks to break.
package enum BreakLockTarget: Hashable, Sendable {
    /// The lock with this token.
    case token(String)
    /// The locks with this root.
    case root(ResourcePath)

    func includes(_ lock: Lock) -> Bool {
        switch self {
        case .token(let uri): lock.token.uri == uri
        case .root(let path): lock.root == path
        }
    }
}
