internal import DavitHTTP
internal import DavitRecording
internal import DavitServer

/// Forwards the requests that no rule matches to another server. If that server cannot be reached, its last
/// response to such a request is sent again.
struct Forwarding: Sendable {
    let server: ServerAddress

    /// Fields that concern one connection (RFC 9110 §7.6.1), and those that are specific to the new request.
    private static let omittedFields: Set<String> = [
        "host", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
        "proxy-connection",
        "content-length", "expect", "accept-encoding",
    ]

    /// The maximum length of a response, in bytes.
    private static let responseBytes = 64 << 20

    private enum Outcome: Sendable {
        case response(Int, [WireField], [UInt8])
        case unreachable(String)
    }

    /// Returns the response of the server; 502 if there is none.
    /// - Parameter log: the requests among which an earlier response is searched.
    func respond(
        to request: HTTPRequest, _ content: ReceivedContent, _ exchange: StubExchange, _ log: RequestLog,
        work: any BlockingWorkRunner
    ) -> Reply {
        guard content.isComplete else {
            return .ready(.error(.badGateway, "Content of more than 4 MiB is not forwarded.", for: request))
        }
        let entry = exchange.entry
        let (server, method, fields) = (server, request.method.rawValue, forwardedFields(of: request))
        let target = String(server.path.dropLast()) + entry.target
        let bytes = content.length > 0 || request.body.declaredLength == nil ? content.bytes : nil
        return .pending { () async throws(HTTPError) in
            let outcome = await work.runLong(for: request.peerAddress, .begins) { () -> Outcome in
                do throws(SingleExchange.Failure) {
                    let found = try SingleExchange(
                        method, target, to: server, fields: fields, content: bytes,
                        limitBytes: Self.responseBytes)
                    return .response(found.status, found.fields, found.content)
                } catch {
                    return .unreachable(error.reason)
                }
            }
            guard let outcome else { throw HTTPError(.serviceUnavailable) }
            switch outcome {
            case .response(let status, let fields, let content):
                exchange.change { $0.isForwarded = true }
                return response(status, fields, content)
            case .unreachable(let reason):
                if let earlier = earlier(like: entry, in: log) { return earlier }
                exchange.change { $0.misses.append(.init(rule: server.origin, reason: reason)) }
                return .error(
                    .badGateway, "The server to which this stub forwards cannot be reached.", for: request)
            }
        }
    }

    private func forwardedFields(of request: HTTPRequest) -> [WireField] {
        var fields: [WireField] = []
        for field in request.fields where !Self.omittedFields.contains(field.name.lowercased()) {
            var value = field.value
            // The destination is on the same server (RFC 4918 §10.3).
            if field.name.lowercased() == "destination", let path = StubImport.target(of: value) {
                value = server.origin + server.path.dropLast() + path
            }
            fields.append(WireField(name: field.name, value: WireText.string(value.utf8)))
        }
        return fields
    }

    private func response(
        _ status: Int, _ fields: [WireField], _ content: [UInt8]
    ) -> HTTPResponse {
        var response = HTTPResponse(status: HTTPStatus(UInt16(clamping: status)))
        for field in fields where !RuleMaker.omittedFields.contains(field.name.lowercased()) {
            var value = String(decoding: WireText.bytes(field.value), as: UTF8.self)
            if field.isNamed("Location"), value.hasPrefix(server.origin) {
                value = String(value.dropFirst(server.origin.count))
            }
            response.fields.append(named: field.name, value)
        }
        if !content.isEmpty { response.body = .bytes(content) }
        return response
    }

    /// Returns the last complete response to a request with the same method and target.
    private func earlier(like entry: StubRequest, in log: RequestLog) -> HTTPResponse? {
        let found = log.requests().requests.last { other in
            other.isForwarded && other.isResponseComplete && other.method == entry.method
                && other.target == entry.target
        }
        guard let found, let status = found.status else { return nil }
        var response = HTTPResponse(status: status)
        for field in found.responseFields { response.fields.append(named: field.name, field.value) }
        if !found.response.isEmpty { response.body = .bytes(found.response) }
        return response
    }
}
