import DavitTesting

/// A request to a share, with a result that ``LockOracle`` can predict.
struct LockQuestion: CustomStringConvertible, Sendable {
    let request: LockOracle.Request
    let asker: LockOracle.ServerConnection

    var description: String { "\(line) from \(asker.principal) with \(asker.tokens.count) tokens" }

    private var line: String {
        switch request {
        case .put(let path): "PUT \(Self.target(path))"
        case .delete(let path): "DELETE \(Self.target(path))"
        case .makeCollection(let path): "MKCOL \(Self.target(path))"
        case .patch(let path): "PROPPATCH \(Self.target(path))"
        case .copy(let path, let destination): "COPY \(Self.target(path)) \(Self.target(destination))"
        case .move(let path, let destination): "MOVE \(Self.target(path)) \(Self.target(destination))"
        case .lock(let path, let isDeep, let scope):
            "LOCK \(Self.target(path)) \(isDeep ? "infinity" : "0") \(scope)"
        case .refresh(let path, _): "LOCK \(Self.target(path))"
        case .unlock(let path, _): "UNLOCK \(Self.target(path))"
        }
    }

    static func target(_ path: LockOracle.Path) -> String { "/" + path.joined(separator: "/") }

    /// Sends the request.
    /// - Parameter locks: the current locks. The request submits each token that `asker` has, tagged with the
    ///   lock root; a refresh submits only the token of the lock to refresh.
    func ask(_ share: TestShare, locks: [LockOracle.Held]) async throws -> (
        answer: LockOracle.Answer, token: String?
    ) {
        let words = line.split(separator: " ").map(String.init)
        var fields: [(String, String)] = []
        var body: String?
        var condition = locks.filter { asker.tokens.contains($0.token) }
            .map { "<\(Self.target($0.root))> (<\($0.token)>)" }.joined(separator: " ")
        switch request {
        case .put: body = "x"
        case .patch: body = setProperty("p", "1")
        case .copy, .move: fields.append(("Destination", words[2]))
        case .lock(_, _, let scope):
            fields.append(("Depth", words[2]))
            body = lockBody(scope: scope.rawValue)
        case .refresh(_, let token): condition = "(<\(token)>)"
        case .unlock(_, let token): fields.append(("Lock-Token", "<\(token)>"))
        case .delete, .makeCollection: break
        }
        if !condition.isEmpty { fields.append(("If", condition)) }
        let response = try await share.client.send(
            words[0], words[1], fields, body: body.map { Array($0.utf8) }, principal: asker.principal)
        let token = response["Lock-Token"].map { String($0.dropFirst().dropLast()) }
        return (answer(response, isPatch: words[0] == "PROPPATCH"), token)
    }

    /// Converts a response. If the store refuses all commits, 507 means that the request passed all checks.
    private func answer(_ response: TestResponse, isPatch: Bool) -> LockOracle.Answer {
        switch response.status {
        case 207 where !isPatch: .blocked(Self.lockedMembers(in: response.text))
        case 200..<300, 507: .done
        case let status: .refused(Int(status))
        }
    }

    private static func lockedMembers(in text: String) -> [LockOracle.Path] {
        let responses = text.components(between: "<D:response>", and: "</D:response>")
        let locked = responses.filter { $0.contains("HTTP/1.1 423 ") }
        let hrefs = locked.flatMap { $0.components(between: "<D:href>", and: "</D:href>") }
        return hrefs.map { $0.split(separator: "/").map(String.init) }
            .sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension String {
    /// Returns the texts between two markers.
    func components(between start: String, and end: String) -> [String] {
        var found: [String] = []
        var rest = self[...]
        while let opening = rest.firstRange(of: start) {
            rest = rest[opening.upperBound...]
            guard let closing = rest.firstRange(of: end) else { break }
            found.append(String(rest[..<closing.lowerBound]))
            rest = rest[closing.upperBound...]
        }
        return found
    }
}
