internal import DavitArchive
internal import DavitHTTP

/// How the content of an archive is stored, as the client wants it: `method` in the query.
enum ArchiveMethod: String, Sendable {
    /// Deflated where that makes content much shorter, by its media type.
    case automatic
    case stored
    /// All of it.
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

/// What a client wants to have in an archive, and how.
struct ArchiveChoice: Sendable {
    /// Of the members that are in it; nil for all.
    var names: [[UInt8]]?
    var method = ArchiveMethod.automatic

    /// What the query says: `archive`, which may have the value `zip`, with `name` as typed or `member` as in an href for each member of a selection.
    /// - Throws: 400 for a format, a member or a method that cannot be.
    init(_ query: FormFields) throws(HTTPError) {
        if let format = query["archive"], !format.isEmpty, format != "zip" {
            throw HTTPError(.badRequest, "Only ZIP archives are available: use ?archive or ?archive=zip.")
        }
        if let text = query["method"] {
            guard let method = ArchiveMethod(rawValue: text) else {
                throw HTTPError(.badRequest, "the method is automatic, stored or deflated")
            }
            self.method = method
        }
        var names: [[UInt8]] = []
        for field in query where field.name == "name" || field.name == "member" {
            let name = field.name == "name" ? Array(field.value.utf8) : PercentCoding.decode(field.value.utf8)
            guard let name, ResourcePath.root.appending(name) != nil else {
                throw HTTPError(.badRequest, "a member has no such name")
            }
            names.append(name)
        }
        if !names.isEmpty { self.names = names }
    }

    init(names: [[UInt8]]?, method: ArchiveMethod = .automatic) {
        self.names = names
        self.method = method
    }

    /// Each name once, in the order of the first.
    mutating func removeDuplicates() {
        var seen: Set<[UInt8]> = []
        names = names?.filter { seen.insert($0).inserted }
    }
}
