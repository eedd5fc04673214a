internal import DavitXML

/// What a sync-collection REPORT asks for (RFC 6578 §6.1).
public struct SyncCollectionBody: Hashable, Sendable {
    /// How deep (§6.3).
    public enum Level: Hashable, Sendable {
        /// The members of the collection.
        case one
        /// The members of members, too.
        case infinite
    }

    /// As it was sent; empty for everything there is.
    public let token: String
    /// Whether members of members are wanted.
    public let level: Level
    /// The most changes that are wanted at once (RFC 5323 §5.17); nil for all.
    public let limit: Int?
    /// The properties of what has changed, each name once.
    public let properties: [PropertyName]

    /// Reads the root element. Unknown elements are ignored (RFC 4918 §17).
    /// - Throws: ``BodyError``; `malformed` for what is missing, comes twice, or has no such value.
    init(_ root: XMLElement, limits: BodyLimits) throws(BodyError) {
        guard let token = try root.only("sync-token"), let level = try root.only("sync-level"),
            let prop = try root.only("prop")
        else { throw .malformed(line: root.line) }
        self.token = Self.trimmed(token)
        switch Self.trimmed(level) {
        case "1": self.level = .one
        case "infinite": self.level = .infinite
        default: throw .malformed(line: level.line)
        }
        limit = try root.only("limit").map(Self.results)
        properties = try PropFindBody.propertyNames(in: prop, limit: limits.properties)
    }

    private static func results(_ limit: XMLElement) throws(BodyError) -> Int {
        guard let results = try limit.only("nresults") else { throw .malformed(line: limit.line) }
        let text = trimmed(results)
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw .malformed(line: results.line) }
        return Int(text) ?? .max
    }

    private static func trimmed(_ element: XMLElement) -> String {
        let space: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        let bytes = Array(element.text.utf8).drop { space.contains($0) }
        let end = bytes.lastIndex { !space.contains($0) }.map { $0 + 1 } ?? bytes.startIndex
        return String(decoding: bytes[bytes.startIndex..<end], as: UTF8.self)
    }
}
