internal import DavitArchive
internal import DavitHTTP

/// The requested compression of an archive: `method` in the query.
enum ArchiveMethod: String, Sendable {
    /// Deflate content whose media type suggests that it compresses well; store the rest.
    case automatic
    case stored
    /// Deflate all content.
    case deflated

    func method(forName name: ArraySlice<UInt8>, length: Int64) -> ZIPEntry.Method {
        if length == 0 { return .stored }
        switch self {
        case .stored: return .stored
        case .deflated: return .deflated
        case .automatic:
            let type = Array(MediaType.forName(name).description.utf8)
            return MediaType.isCompressible(type.span) ? .deflated : .stored
        }
    }
}

/// The requested contents and compression of an archive.
struct ArchiveChoice: Sendable {
    /// The names of the selected members; nil for all.
    var names: [[UInt8]]?
    var method = ArchiveMethod.automatic

    /// Parses the query: `archive`, optionally with the value `zip`; for a selection, `name` (decoded) or
    /// `member` (encoded as in an href) for each member.
    /// - Throws: 400 for an invalid format, member or method.
    init(_ query: FormFields) throws(HTTPError) {
        if let format = query["archive"], !format.isEmpty, format != "zip" {
            throw HTTPError(.badRequest, "Only ZIP archives are available: use ?archive or ?archive=zip.")
        }
        if let text = query["method"] {
            guard let method = ArchiveMethod(rawValue: text) else {
                throw HTTPError(
                    .badRequest, "The query parameter method must be automatic, stored or deflated.")
            }
            self.method = method
        }
        var names: [[UInt8]] = []
        for field in query where field.name == "name" || field.name == "member" {
            let name = field.name == "name" ? Array(field.value.utf8) : PercentCoding.decode(field.value.utf8)
            guard let name, ResourcePath.root.appending(name) != nil else {
                throw HTTPError(.badRequest, "Invalid member name.")
            }
            names.append(name)
        }
        if !names.isEmpty { self.names = names }
    }

    init(names: [[UInt8]]?, method: ArchiveMethod = .automatic) {
        self.names = names
        self.method = method
    }

    /// Removes duplicate names, keeping the order of first occurrence.
    mutating func removeDuplicates() {
        var seen: Set<[UInt8]> = []
        names = names?.filter { seen.insert($0).inserted }
    }
}
