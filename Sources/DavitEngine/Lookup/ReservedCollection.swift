internal import DavitHTTP

/// A collection at the root of the share that the server itself provides, such as that of the uploads. Its name has a form
/// that stores reserve, so no resource can have it.
struct ReservedCollection: Sendable {
    let path: ResourcePath

    /// - Parameter name: begins with a dot.
    init(_ name: String) { path = ResourcePath(unchecked: Array(name.utf8)) }

    /// Whether `path` is this collection or below it.
    func contains(_ path: ResourcePath) -> Bool {
        // Nearly all paths differ in the first byte.
        path.bytes.first == UInt8(ascii: ".") && self.path.contains(path)
    }
}
