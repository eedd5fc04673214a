public import DavitHTTP
internal import DavitXML

/// What a LOCK with content asks for (RFC 4918 §14.11). The type is always write (§14.15).
public struct LockInfo: Hashable, Sendable {
    public let scope: LockScope
    /// The `owner` element as it was sent; nil if there is none (§14.17).
    public let owner: PropertyValue?

    public init(scope: LockScope, owner: PropertyValue?) {
        self.scope = scope
        self.owner = owner
    }

    /// Parses the content of a LOCK; without content it is a refresh (§9.10.2), which is not for here.
    ///
    /// - Parameter charset: the charset parameter of its media type, if there is one.
    /// - Throws: ``BodyError``; `notThis` for a scope or type that no server knows.
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
