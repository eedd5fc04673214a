#if Postgres
internal import DavitBlobs
internal import DavitHTTP
internal import DavitPostgres

/// What opening a resource needs to know.
struct TreeOpening: Sendable {
    /// The requested path.
    let path: ResourcePath
    /// The path with the names as they are stored, if the resource exists.
    let canonicalPath: ResourcePath
    /// Nil if the resource does not exist.
    let row: TreeRow?
    /// The content, if it is small.
    let bytes: [UInt8]?
    /// The pieces of other content.
    var segments: [BlobSegment] = []

    /// Reads the resources along a path, with the columns of ``TreeRow``, and the small content of the last one.
    static let statement: PostgresStatement = """
        SELECT (member).id, (member).parent, (member).name, (member).kind, (member).length, (member).modified,
            (member).created, (member).version, (member).blob, (member).is_executable, (member).has_properties,
            (member).content_language IS NOT NULL, s.bytes
        FROM resolve_path($1, $2) LEFT JOIN small_content s ON depth = $3 AND s.blob = (member).blob
        ORDER BY depth
        """
    /// Reads the generation of the access rules of a share.
    static let generationStatement: PostgresStatement =
        "SELECT generation FROM access_generation WHERE share = $1"
    static let segmentStatement: PostgresStatement =
        "SELECT start, length, object, object_start, digest FROM segment WHERE blob = $1 ORDER BY start"

    /// The values of ``statement``.
    static func values(_ path: ResourcePath, below root: Int64) -> [PostgresValue] {
        let keys = TreeKey.keys(of: path)
        return [.integer(root), .byteStrings(keys), .integer(Int64(keys.count))]
    }

    /// Reads the result of ``statement``.
    init(_ path: ResourcePath, _ result: PostgresResult) throws(PostgresError) {
        self.path = path
        let last = result.count - 1
        guard last == path.depth else {
            (canonicalPath, row, bytes) = (path, nil, nil)
            return
        }
        var names: [[UInt8]] = []
        if last > 0 {
            for index in 1...last { names.append(try result.bytes(index, TreeRow.nameColumn)) }
        }
        canonicalPath = ResourcePath(segments: names) ?? path
        row = try TreeRow(result, last)
        bytes = result.isNull(last, TreeRow.columnCount) ? nil : try result.bytes(last, TreeRow.columnCount)
    }

    /// The blob whose segments are needed; nil if there is none.
    var blob: Int64? { bytes == nil ? row?.blob : nil }

    /// Reads the result of ``segmentStatement``.
    static func segments(_ result: PostgresResult) throws(PostgresError) -> [BlobSegment] {
        var segments: [BlobSegment] = []
        segments.reserveCapacity(result.count)
        for index in 0..<result.count {
            segments.append(
                BlobSegment(
                    start: try result.integer(index, 0), length: try result.integer(index, 1),
                    object: BlobKey(try result.uuid(index, 2)), objectStart: try result.integer(index, 3),
                    digest: try result.bytes(index, 4)))
        }
        return segments
    }
}
#endif
