public import DavitHTTP
internal import DavitXML

/// The body of a LOCK request (RFC 4918 §14.11). The lock type is always `write` (§14.15).
public struct LockInfo: Hashable, Sendable {
    public let scope: LockScope
    /// The `owner` element as sent; nil if there is none (§14.17).
    public let owner: PropertyValue?

    public init(scope: LockScope, owner: PropertyValue?) {
        self.scope = scope
        self.owner = owner
    }

    /// Parses the body of a LOCK. A LOCK without content is a refresh (§9.10.2) and must be handled by the
    /// caller.
    ///
    /// - Parameter charset: the charset parameter of the media type, if any.
    /// - Throws: ``BodyError``; `notThis` for an unknown scope or type.
    public static func parse(
        _ bytes: [UInt8], charset: Charset? = nil, limits: BodyLimits = BodyLimits()
    ) throws(BodyError) -> LockInfo {
        let root = try XMLElement.root(named: "lockinfo", of: bytes, charset: charset, limits: limits.xml)
        guard let scope = try root.only("lockscope"), let type = try root.only("locktype") else {
            throw .malformed(line: root.line)
        }
        guard try type.only("write") != nil else { throw .notThis(line: type.line) }
        let owner = try root.only("owner").map { PropertyValue(element: $0.serializedSelfContained()) }
        switch (try scope.only("exclusive"), try scope.only("shared")) {
        case (.some, nil): return LockInfo(scope: .exclusive, owner: owner)
        case (nil, .some): return LockInfo(scope: .shared, owner: owner)
        case (nil, nil): throw .notThis(line: scope.line)
        case (.some, .some): throw .malformed(line: scope.line)
        }
    }
}
