package import DavitHTTP
package import DavitServer

/// Answers the requests for the health and the metrics of a server: `/livez`, `/readyz` and `/metrics`, with GET and HEAD.
package struct AdminHandler: Handler {
    /// Where the handler gets its answers.
    package struct Source: Sendable {
        /// Returns the result of each check without blocking work: whether the server itself runs.
        package var liveness: @Sendable () async -> [HealthCheck]
        /// Returns the result of each check; nil if too many requests are waiting.
        package var readiness: @Sendable () async -> [HealthCheck]?
        /// Returns nil if too many requests are waiting.
        package var metrics: @Sendable () async -> [Metric]?

        package init(
            liveness: @escaping @Sendable () async -> [HealthCheck],
            readiness: @escaping @Sendable () async -> [HealthCheck]?,
            metrics: @escaping @Sendable () async -> [Metric]?
        ) {
            self.liveness = liveness
            self.readiness = readiness
            self.metrics = metrics
        }
    }

    private let router: Router

    package init(_ source: Source) {
        router = Router { routes in
            routes.get("/livez") { request in Self.response(await source.liveness(), to: request) }
            routes.get("/readyz") { request in
                guard let checks = await source.readiness() else { return Self.busy }
                return Self.response(checks, to: request)
            }
            routes.get("/metrics") { request in
                guard let metrics = await source.metrics() else { return Self.busy }
                let format = MetricsText.Format(accept: request.string(of: .accept) ?? "")
                return Self.uncached(
                    Array(MetricsText.text(of: metrics, in: format).utf8), type: format.contentType)
            }
        }
    }

    package func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        guard request.method == .get || request.method == .head else {
            var response = HTTPResponse.error(.methodNotAllowed, "Method not allowed.")
            response.fields.append(.allow, "GET, HEAD")
            return .ready(response)
        }
        return try router.respond(to: request)
    }

    private static var busy: HTTPResponse { .error(.serviceUnavailable, "Too many requests are waiting.") }

    /// Returns 200 if all checks pass, otherwise 503, with the name of each check: in JSON if the client asks for it,
    /// otherwise as text.
    private static func response(_ checks: [HealthCheck], to request: HTTPRequest) -> HTTPResponse {
        let status: HTTPStatus = checks.areAllPassing ? .ok : .serviceUnavailable
        guard request.string(of: .accept)?.lowercased().contains("application/json") == true else {
            let lines = checks.map { check in
                check.problem.map { "failed \(check.name): \($0)\n" } ?? "ok \(check.name)\n"
            }
            return uncached(
                Array(lines.joined().utf8), type: "text/plain; charset=utf-8", status: status)
        }
        var json = JSONWriter()
        json.object { json in
            json.member("status", checks.areAllPassing ? "ok" : "failed")
            json.member("checks", checks) { json, check in
                json.member("name", check.name)
                json.member("status", check.passes ? "ok" : "failed")
                if let problem = check.problem { json.member("problem", problem) }
            }
        }
        return uncached(json.bytes, type: "application/json", status: status)
    }

    private static func uncached(
        _ bytes: [UInt8], type: String, status: HTTPStatus = .ok
    ) -> HTTPResponse {
        var fields = HTTPFields()
        fields.append(.contentType, type)
        fields.append(.cacheControl, "no-store")
        return HTTPResponse(status: status, fields: fields, body: .bytes(bytes))
    }
}
