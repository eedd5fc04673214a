package import DavitHTTP
package import DavitStore

/// An entry in the trash, encoded as a line of a ``ControlResponse``.
package struct TrashLine: Hashable, Sendable {
    package let number: Int64
    package let id: String
    /// The time of deletion in seconds since 1970.
    package let deleted: Int64
    package let length: Int64?
    package let isCollection: Bool
    package let isOverwritten: Bool
    package let principal: String?
    package let path: ResourcePath

    package init(_ entry: TrashEntry) {
        number = entry.number
        id = entry.id
        deleted = entry.deleted.seconds
        length = entry.length
        isCollection = entry.isCollection
        isOverwritten = entry.reason == .overwritten
        principal = entry.principal
        path = entry.path
    }

    /// The encoded line: words separated by spaces, with percent-encoded names.
    package var text: String {
        let kind = isCollection ? "collection" : "content"
        let reason = isOverwritten ? "overwritten" : "deleted"
        let who = principal.map { "=" + Self.encoded(Array($0.utf8)) } ?? "-"
        let size = length.map { "\($0)" } ?? "-"
        return "\(number) \(id) \(deleted) \(size) \(kind) \(reason) \(who) \(Self.encoded(path))"
    }

    /// Parses a line; returns nil if it is malformed.
    package init?(parsing text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 8, let number = Int64(words[0]), TrashEntry.isID(words[1].utf8),
            let deleted = Int64(words[2]), words[3] == "-" || Int64(words[3]) != nil,
            let path = Self.path(words[7]), words[6] == "-" || words[6].hasPrefix("=")
        else { return nil }
        self.number = number
        id = words[1]
        self.deleted = deleted
        length = Int64(words[3])
        isCollection = words[4] == "collection"
        isOverwritten = words[5] == "overwritten"
        if words[6] == "-" {
            principal = nil
        } else {
            guard let name = PercentCoding.decode(words[6].dropFirst().utf8) else { return nil }
            principal = String(decoding: name, as: UTF8.self)
        }
        self.path = path
    }

    private static func encoded(_ name: [UInt8]) -> String {
        var bytes: [UInt8] = []
        PercentCoding.append(name, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func encoded(_ path: ResourcePath) -> String {
        var bytes: [UInt8] = []
        PercentCoding.append(path, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func path(_ text: String) -> ResourcePath? {
        var segments: [[UInt8]] = []
        for segment in text.utf8.split(separator: UInt8(ascii: "/")) {
            guard let name = PercentCoding.decode(segment) else { return nil }
            segments.append(name)
        }
        return ResourcePath(segments: segments)
    }

    /// The result of restoring an entry, encoded as a line.
    package enum Restored: Hashable, Sendable {
        case at(ResourcePath)
        case refused(String)

        package var text: String {
            switch self {
            case .at(let path): "restored \(TrashLine.encoded(path))"
            case .refused(let reason): "not \(reason)"
            }
        }

        package init?(parsing text: String) {
            let words = text.split(separator: " ", maxSplits: 1).map(String.init)
            guard words.count == 2 else { return nil }
            switch words[0] {
            case "restored":
                guard let path = TrashLine.path(words[1]) else { return nil }
                self = .at(path)
            case "not": self = .refused(words[1])
            default: return nil
            }
        }
    }
}
