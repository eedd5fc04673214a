package import DavitHTTP

/// Transactions that no correct caller makes; every backend refuses them alike.
extension StateError {
    package static func unbound(_ path: ResourcePath) -> StateError {
        .failed(reason: "rows at \(path), which is not bound")
    }

    package static func overlap(_ source: ResourcePath, _ destination: ResourcePath) -> StateError {
        .failed(reason: "rows moved from \(source) to \(destination), and one contains the other")
    }

    package static let repeatedToken = StateError.failed(reason: "a lock token used twice")
    package static let repeatedTrash = StateError.failed(reason: "a number or an id of the trash used twice")
}
