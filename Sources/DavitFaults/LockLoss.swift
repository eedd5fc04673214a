internal import DavitHTTP
internal import DavitServer
internal import DavitWebDAV

/// The loss of locks, as after a server lost its state: the locks that a request submits are removed before the
/// server sees the request.
enum LockLoss {
    /// The maximum number of locks that are removed for one request.
    private static let tokenLimit = 8

    /// Removes the locks of the requested resource whose tokens are in `If` or `Lock-Token`. Failures are ignored:
    /// a client may submit tokens that do not exist.
    /// - Parameter next: removes a lock if it is sent UNLOCK (RFC 4918 §9.11). The credentials of the request apply
    ///   to it, unless they are those of Digest, which are only valid for one method.
    static nonisolated(nonsending) func removeLocks(of request: HTTPRequest, next: some Handler) async {
        for token in tokens(of: request).prefix(tokenLimit) {
            let unlock = request.bare()
            unlock.method = .unlock
            if let credentials = request.bytes(of: .authorization) {
                unlock.append(.authorization, named: "Authorization", credentials)
            }
            unlock.append(.lockToken, named: "Lock-Token", Array("<\(token)>".utf8))
            _ = try? await next.respond(to: unlock).response()
        }
    }

    private static func tokens(of request: HTTPRequest) -> [String] {
        var tokens: [String] = []
        func add(_ token: String) {
            if !tokens.contains(token) { tokens.append(token) }
        }
        if let value = request.bytes(of: .lockToken), value.first == UInt8(ascii: "<"),
            value.last == UInt8(ascii: ">")
        {
            add(String(decoding: value.dropFirst().dropLast(), as: UTF8.self))
        }
        if let value = request.combinedBytes(of: .if), let header = try? IfHeader(parsing: value.span) {
            for condition in header.lists.flatMap(\.conditions) {
                if case .stateToken(let token) = condition.state, !condition.isNegated { add(token) }
            }
        }
        return tokens
    }
}

extension HTTPRequest {
    /// Adds a field that the client did not send. Fields that do not fit into the head are left out.
    fileprivate func append(_ field: FieldName, named name: String, _ value: [UInt8]) {
        let start = head.count
        let line = Array(name.utf8) + [UInt8(ascii: ":")] + value + [13, 10]
        guard start + line.count <= Int(UInt16.max) else { return }
        unsafe line.withUnsafeBytes { unsafe keepHead($0) }
        append(
            FieldLine(
                name: field, nameStart: UInt16(start), nameLength: UInt16(name.utf8.count),
                valueStart: UInt16(start + name.utf8.count + 1), valueLength: UInt16(value.count)))
    }
}
