/// A request method (RFC 9110 §9, RFC 4918 §9). Methods are case-sensitive.
public enum HTTPMethod: Hashable, Sendable {
    /// Methods of RFC 9110, and PATCH (RFC 5789).
    case get, head, options, put, post, delete, patch, trace, connect
    /// Methods of RFC 4918.
    case mkcol, copy, move, propfind, proppatch, lock, unlock
    /// The method of RFC 3253 §3.6.
    case report
    /// The method of RFC 5323.
    case search
    /// Any other method; the token as sent.
    case other(String)
}

extension HTTPMethod {
    /// All methods that have a case, by name.
    package static let named: [(name: StaticString, method: HTTPMethod)] = [
        ("GET", .get), ("HEAD", .head), ("OPTIONS", .options), ("PUT", .put), ("POST", .post),
        ("DELETE", .delete), ("PATCH", .patch), ("TRACE", .trace), ("CONNECT", .connect),
        ("MKCOL", .mkcol), ("COPY", .copy), ("MOVE", .move), ("PROPFIND", .propfind),
        ("PROPPATCH", .proppatch), ("LOCK", .lock), ("UNLOCK", .unlock), ("REPORT", .report),
        ("SEARCH", .search),
    ]

    /// The number of different values of ``kind``.
    package static var kindCount: Int { 19 }

    /// The ``kind`` of all methods without a case.
    package static var otherKind: Int { kindCount - 1 }

    /// A number for statistics, below ``kindCount``: the index in ``named``, or the same one for all other methods.
    package var kind: Int {
        switch self {
        case .get: 0
        case .head: 1
        case .options: 2
        case .put: 3
        case .post: 4
        case .delete: 5
        case .patch: 6
        case .trace: 7
        case .connect: 8
        case .mkcol: 9
        case .copy: 10
        case .move: 11
        case .propfind: 12
        case .proppatch: 13
        case .lock: 14
        case .unlock: 15
        case .report: 16
        case .search: 17
        case .other: 18
        }
    }

    /// The method token as used in a request line.
    public var rawValue: String {
        if case .other(let token) = self { return token }
        for (name, method) in Self.named where method == self { return name.description }
        return ""
    }
}

extension HTTPMethod: CustomStringConvertible {
    /// The method token, as in ``rawValue``.
    public var description: String { rawValue }
}
