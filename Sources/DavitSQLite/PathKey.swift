internal import DavitHTTP

/// How paths stand in the tables.
///
/// A resource is (the collection it is a member of, its name): `("/a/", "b")` for `a/b`, `("/", "a")` for `a`
/// and `("", "")` for the root, which so is no member of itself. All that is below `a` then has a `parent`
/// from `"/a/"` up to, and without, `"/a0"` ("0" follows "/"): one range of every key, with the direct members
/// in one piece at `"/a/"`.
extension ResourcePath {
    /// `parent` and `name`.
    var key: [SQLValue] {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else {
            return isRoot ? [.blob([]), .blob([])] : [.blob([UInt8(ascii: "/")]), .blob(bytes)]
        }
        return [.blob([UInt8(ascii: "/")] + bytes[...slash]), .blob(Array(bytes[(slash + 1)...]))]
    }

    /// The `parent` of its members.
    var memberParent: [UInt8] {
        isRoot ? [UInt8(ascii: "/")] : [UInt8(ascii: "/")] + bytes + [UInt8(ascii: "/")]
    }

    /// From where and up to where the `parent` of all that is below lies.
    var belowRange: [SQLValue] {
        var end = memberParent
        end[end.count - 1] += 1
        return [.blob(memberParent), .blob(end)]
    }

    init(parent: [UInt8], name: [UInt8]) { self.init(unchecked: Array(parent.dropFirst()) + name) }
}

extension Row {
    /// The path in two columns, from `column` on.
    func path(_ column: Int32) -> ResourcePath { ResourcePath(parent: blob(column), name: blob(column + 1)) }
}
