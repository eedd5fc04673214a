package import DavitHTTP

/// Errors for invalid transactions, which indicate a bug in the caller. Every backend rejects the same
/// transactions.
extension StateError {
    package static func unbound(_ path: ResourcePath) -> StateError {
        .failed(reason: "path has no binding: \(path)")
    }

    package static func overlap(_ source: ResourcePath, _ destination: ResourcePath) -> StateError {
        .failed(reason: "cannot move rows from \(source) to \(destination): the paths overlap")
    }

    package static let repeatedToken = StateError.failed(reason: "duplicate lock token")
    package static let repeatedTrash = StateError.failed(reason: "duplicate number or id of a trash entry")
}
