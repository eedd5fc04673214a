internal import DavitHTTP

/// The representation of paths in the tables.
///
/// A resource is identified by its parent collection and its name: `("/a/", "b")` for `a/b`, `("/", "a")` for
/// `a` and `("", "")` for the root, so that the root is not a member of itself. The `parent` of everything
/// below `a` is then in the range from `"/a/"` up to but not including `"/a0"` ("0" is the character after
/// "/"). Everything below `a` is therefore contiguous in every index on `parent`, and so are its direct
/// members, whose `parent` is `"/a/"`.
extension ResourcePath {
    /// The `parent` and `name` columns.
    var key: [SQLValue] {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else {
            return isRoot ? [.blob([]), .blob([])] : [.blob([UInt8(ascii: "/")]), .blob(bytes)]
        }
        return [.blob([UInt8(ascii: "/")] + bytes[...slash]), .blob(Array(bytes[(slash + 1)...]))]
    }

    /// The `parent` column of the members of this path.
    var memberParent: [UInt8] {
        isRoot ? [UInt8(ascii: "/")] : [UInt8(ascii: "/")] + bytes + [UInt8(ascii: "/")]
    }

    /// The lower (inclusive) and upper (exclusive) bound of the `parent` column of everything below this
    /// path.
    var belowRange: [SQLValue] {
        var end = memberParent
        end[end.count - 1] += 1
        return [.blob(memberParent), .blob(end)]
    }

    init(parent: [UInt8], name: [UInt8]) { self.init(unchecked: Array(parent.dropFirst()) + name) }
}

extension ResultRow {
    /// Returns the path in the two columns starting with `column`.
    func path(_ column: Int32) -> ResourcePath { ResourcePath(parent: blob(column), name: blob(column + 1)) }
}
