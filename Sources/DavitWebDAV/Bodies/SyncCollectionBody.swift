internal import DavitXML

/// The body of a sync-collection REPORT (RFC 6578 §6.1).
public struct SyncCollectionBody: Hashable, Sendable {
    /// The depth of the report (§6.3).
    public enum Level: Hashable, Sendable {
        /// Only the direct members of the collection.
        case one
        /// All descendants.
        case infinite
    }

    /// The token as sent; empty for an initial synchronization.
    public let token: String
    /// Whether all descendants are requested.
    public let level: Level
    /// The maximum number of changes to return (RFC 5323 §5.17); nil for no limit.
    public let limit: Int?
    /// The properties to return for changed resources, without duplicates.
    public let properties: [PropertyName]

    /// Parses the root element. Unknown elements are ignored (RFC 4918 §17).
    /// - Throws: ``BodyError``; `malformed` for missing or duplicate elements and invalid values.
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
