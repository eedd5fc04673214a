internal import DavitEngine
internal import DavitHTTP
internal import DavitListing
internal import DavitServer

/// The members of a folder as JSON, for scripts: an array of objects with `path`, `name`, `modified` and, for
/// files, `size` in bytes. Folders that the client has no right to list, but can open to reach a folder below, have no
/// `modified`. The path is absolute within the share and not percent-encoded; that of a folder ends in a slash. Invalid
/// UTF-8 in names is replaced.
///
/// Up to 10,000 members are in natural order, folders first, unless their names are longer than 1 MiB in total; more are in
/// the order of the file system.
struct FolderJSON: ListingFormat {
    /// The path of the folder, with slashes at both ends.
    private let base: [UInt8]

    init(_ folder: ResourcePath) {
        let slash = [UInt8(ascii: "/")]
        base = folder.isRoot ? slash : slash + folder.segments.joined(separator: slash) + slash
    }

    static func appendFields(to fields: inout HTTPFields) {
        fields.append(.contentType, "application/json")
        fields.append(.xContentTypeOptions, "nosniff")
        // The client cannot know when the folder changes.
        fields.append(.cacheControl, "no-cache")
    }

    func appendHead(to buffer: inout [UInt8]) { buffer.append(UInt8(ascii: "[")) }

    func append(_ entry: ListingEntry, isFirst: Bool, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: (isFirst ? "\n" : ",\n").utf8)
        var json = JSONWriter()
        json.object { json in
            json.member("path", base + entry.name + (entry.isCollection ? [UInt8(ascii: "/")] : []))
            json.member("name", entry.name)
            if entry.hasTime { json.member("modified", HTTPDate.iso8601(entry.modified)) }
            if !entry.isCollection { json.member("size", entry.length) }
        }
        buffer.append(contentsOf: json.bytes)
    }

    func appendFoot(isEmpty: Bool, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: (isEmpty ? "]\n" : "\n]\n").utf8)
    }

    func appendFootOfIncomplete(to buffer: inout [UInt8]) -> Bool { false }
}

extension MemberReader: MemberPages {}
