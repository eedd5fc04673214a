internal import DavitHTTP
internal import DavitSQLite
internal import DavitServer

/// The control interface of a stub server below `/.davit/`: a JSON API, and the page that uses it. Only for
/// clients on this machine.
struct StubControl {
    let state: StubState
    let work: any BlockingWorkRunner

    /// The maximum length of content that is sent to the API, in bytes.
    static let contentBytes = 16 << 20

    /// Returns the handler. Pages of other sites can use it neither through a user's browser nor by pointing their
    /// host name at this machine.
    func handler() -> some Handler {
        let router = Router { routes in
            addRules(to: &routes)
            addRequests(to: &routes)
            addState(to: &routes)
            addPage(to: &routes)
        }
        let guarded = router.applying(HostGuard(names: [])).applying(CrossOriginGuard())
        return LocalClientsOnly(next: guarded)
    }

    private func addPage(to routes: inout Routes) {
        routes.get("/.davit") { _ in .redirect(to: "/.davit/") }
        routes.get("/.davit/") { _ in
            guard let page = StubPage.response("index.html") else { throw HTTPError(.notFound) }
            return page
        }
        routes.get("/.davit/page/{name}") { request in
            guard let file = StubPage.response(request.parameters["name"] ?? "") else {
                throw HTTPError(.notFound)
            }
            return file
        }
    }

    // MARK: Rules

    private func addRules(to routes: inout Routes) {
        let (state, control) = (state, self)
        routes.get("/.davit/api/rules") { _ in
            .json(["rules": .array(state.rules.map { Self.json(of: $0.rule, hits: $0.hits) })])
        }
        routes.get("/.davit/api/rules/{name}") { request in
            let name = request.parameters["name"] ?? ""
            guard let found = state.rules.first(where: { $0.rule.name == name }) else {
                throw HTTPError(.notFound, "There is no rule with this name.")
            }
            return .json(Self.json(of: found.rule, hits: found.hits))
        }
        routes.post("/.davit/api/rules") { request in
            try await control.change(request) { value throws(StubError) in
                let rule = try StubRule.parse(value)
                if state.rules.contains(where: { $0.rule.name == rule.name }) {
                    return .problem(.conflict, "A rule with this name exists.")
                }
                try state.store(rule)
                var response = HTTPResponse.json(Self.json(of: rule, hits: 0), status: .created)
                var location = Array("/.davit/api/rules/".utf8)
                PercentCoding.append(Array(rule.name.utf8), to: &location)
                response.fields.append(.location, location)
                return response
            }
        }
        routes.put("/.davit/api/rules") { request in
            try await control.change(request) { value throws(StubError) in
                var rules: [StubRule] = []
                for element in value["rules"]?.elements ?? [] { rules.append(try StubRule.parse(element)) }
                guard value["rules"]?.elements != nil else {
                    return .problem(.badRequest, "The content must be an object with an array 'rules'.")
                }
                try state.replaceRules(rules)
                return .json(["rules": .array(rules.map { Self.json(of: $0, hits: 0) })])
            }
        }
        routes.put("/.davit/api/rules/{name}") { request in
            let name = request.parameters["name"] ?? ""
            return try await control.change(request) { value throws(StubError) in
                let rule = try StubRule.parse(value)
                let isRenamed = rule.name != name
                if isRenamed, state.rules.contains(where: { $0.rule.name == rule.name }) {
                    return .problem(.conflict, "A rule with this name exists.")
                }
                let isNew = try isRenamed ? state.rename(name, to: rule) : state.store(rule)
                return .json(Self.json(of: rule, hits: 0), status: isNew ? .created : .ok)
            }
        }
        routes.delete("/.davit/api/rules/{name}") { request in
            let name = request.parameters["name"] ?? ""
            return try await control.run { () throws(StubError) in
                try state.removeRule(named: name)
                    ? HTTPResponse(status: .noContent)
                    : .problem(.notFound, "There is no rule with this name.")
            }
        }
        routes.post("/.davit/api/rules-from/{number}") { request in
            guard let entry = Self.entry(request, state) else {
                throw HTTPError(.notFound, "There is no request with this number.")
            }
            return .json(RuleMaker.rule(from: entry, among: state.rules.map(\.rule.name)).json)
        }
    }

    static func json(of rule: StubRule, hits: UInt64) -> JSONValue {
        guard case .object(let members) = rule.json else { return rule.json }
        return .object(members + [.init("hits", .integer(Int64(clamping: hits)))])
    }

    // MARK: Requests

    static func entry(_ request: HTTPRequest, _ state: StubState) -> StubRequest? {
        request.parameters["number"].flatMap { UInt64($0) }.flatMap { state.log.request($0) }
    }

    private func addRequests(to routes: inout Routes) {
        let (state, control) = (state, self)
        routes.get("/.davit/api/requests") { request in
            let after = request.query["after"].map { UInt64($0) } ?? 0
            let limit = request.query["limit"].map { Int($0) } ?? RequestLog.entryLimit
            guard let after, let limit, limit > 0 else {
                throw HTTPError(.badRequest, "'after' and 'limit' must be numbers.")
            }
            let found = state.log.requests(after: after, limit: limit)
            return .json([
                "requests": .array(found.requests.map { $0.json(isComplete: false) }),
                "latest": .integer(Int64(clamping: found.latest)),
                "dropped": .integer(Int64(clamping: found.dropped)),
            ])
        }
        routes.delete("/.davit/api/requests") { _ in
            try await control.run { () throws(StubError) in
                try state.reset(requests: true, states: false)
                return HTTPResponse(status: .noContent)
            }
        }
        routes.get("/.davit/api/requests/{number}") { request in
            guard let entry = Self.entry(request, state) else {
                throw HTTPError(.notFound, "There is no request with this number.")
            }
            return .json(entry.json(isComplete: true))
        }
        routes.get("/.davit/api/requests/{number}/content") { request in
            guard let entry = Self.entry(request, state) else { throw HTTPError(.notFound) }
            let type = entry.fields.first { $0.name.lowercased() == "content-type" }?.value
            return Self.raw(entry.content, type: type)
        }
        routes.get("/.davit/api/requests/{number}/response") { request in
            guard let entry = Self.entry(request, state) else { throw HTTPError(.notFound) }
            let type = entry.responseFields.first { $0.name.lowercased() == "content-type" }?.value
            return Self.raw(entry.response, type: type)
        }
        routes.post("/.davit/api/verify") { request in
            try await control.change(request) { value throws(StubError) in
                try Verification(json: value, folder: state.folder).response(for: state.log.requests())
            }
        }
        routes.get("/.davit/api/events") { _ in StubEvents.response(of: state.log) }
    }

    /// Returns recorded content so that a browser can show images but runs nothing.
    private static func raw(_ bytes: [UInt8], type: String?) -> HTTPResponse {
        var response = HTTPResponse.bytes(bytes, type: type ?? "application/octet-stream")
        response.fields.append(.xContentTypeOptions, "nosniff")
        response.fields.append(named: "Content-Security-Policy", "sandbox; default-src 'none'")
        response.fields.append(.cacheControl, "no-store")
        return response
    }

    // MARK: State and faults

    private func addState(to routes: inout Routes) {
        let (state, control) = (state, self)
        routes.get("/.davit/api/state") { _ in
            try await control.run { () throws(StubError) in .json(try state.json()) }
        }
        routes.put("/.davit/api/state") { request in
            try await control.change(request) { value throws(StubError) in
                guard let scenarios = value["scenarios"]?.members else {
                    return .problem(.badRequest, "The content must be an object with an object 'scenarios'.")
                }
                for member in scenarios {
                    guard let text = member.value.text, !text.isEmpty, text.utf8.count <= 100 else {
                        return .problem(.unprocessableContent, "A state is a text of 1 to 100 bytes.")
                    }
                    guard state.scenarios[member.name] != nil else {
                        return .problem(.unprocessableContent, "No rule has the scenario '\(member.name)'.")
                    }
                    try state.setScenario(member.name, text)
                }
                return .json(try state.json())
            }
        }
        routes.delete("/.davit/api/sessions/{token}") { request in
            let token = request.parameters["token"] ?? ""
            return try await control.run { () throws(StubError) in
                try state.endSession(token)
                    ? HTTPResponse(status: .noContent) : .problem(.notFound, "There is no such session.")
            }
        }
        routes.get("/.davit/api/faults") { _ in
            .json(["text": .string(state.ruleSet.faultText), "error": .null])
        }
        routes.put("/.davit/api/faults") { request in
            try await control.change(request) { value throws(StubError) in
                guard let text = value["text"]?.text, text.utf8.count <= 1 << 20 else {
                    return .problem(.badRequest, "The content must be an object with a string 'text'.")
                }
                try state.setFaults(text)
                return .json(["text": .string(text), "error": .null])
            }
        }
        routes.post("/.davit/api/reset") { request in
            try await control.change(request) { value throws(StubError) in
                try state.reset(
                    requests: value["requests"] != false, states: value["states"] != false)
                return HTTPResponse(status: .noContent)
            }
        }
    }

    // MARK: Running

    /// Runs work that blocks, and answers its errors.
    private func run(
        _ body: @escaping @Sendable () throws(StubError) -> HTTPResponse
    ) async throws(HTTPError) -> HTTPResponse {
        let result = await work.run { () -> Outcome in
            do throws(StubError) { return Outcome(try body()) } catch { return Outcome(.problem(error)) }
        }
        guard let result else { throw HTTPError(.serviceUnavailable) }
        return HTTPResponse(status: result.status, fields: result.fields, body: .bytes(result.content))
    }

    /// A response in a form that another thread can return.
    private struct Outcome: Sendable {
        var status: HTTPStatus
        var fields: HTTPFields
        var content: [UInt8] = []

        init(_ response: HTTPResponse) {
            status = response.status
            fields = response.fields
            if case .bytes(let bytes) = response.body { content = bytes }
        }
    }

    /// Reads a JSON value from the request, an empty object without content, and runs `body` with it.
    private func change(
        _ request: HTTPRequest, _ body: @escaping @Sendable (JSONValue) throws(StubError) -> HTTPResponse
    ) async throws(HTTPError) -> HTTPResponse {
        let bytes = try await request.content(limitBytes: Self.contentBytes)
        return try await run { () throws(StubError) in
            if bytes.isEmpty { return try body([:]) }
            guard let value = JSONParser.parse(bytes) else {
                return .problem(.badRequest, "The content is not JSON.")
            }
            return try body(value)
        }
    }
}

/// Refuses clients on other machines with 403.
private struct LocalClientsOnly<Next: Handler>: Handler {
    let next: Next

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        guard request.remoteAddress?.isLoopback != false else {
            return .ready(
                .error(
                    .forbidden, "The control page can be used only on the machine of the server.",
                    for: request))
        }
        return try next.respond(to: request)
    }
}

extension StubRule {
    static func parse(_ json: JSONValue) throws(StubError) -> StubRule {
        do throws(RuleError) { return try StubRule(json: json) } catch { throw .rule(error) }
    }
}

extension HTTPResponse {
    /// Returns JSON that must not be cached.
    static func json(_ value: JSONValue, status: HTTPStatus = .ok) -> HTTPResponse {
        var response = HTTPResponse.bytes(value.bytes + [10], type: "application/json", status: status)
        response.fields.append(.cacheControl, "no-store")
        return response
    }

    static func problem(_ status: HTTPStatus, _ text: String) -> HTTPResponse {
        .json(["error": ["problem": .string(text)]], status: status)
    }

    static func problem(_ error: StubError) -> HTTPResponse {
        switch error {
        case .rule(let error):
            .json(
                [
                    "error": [
                        "rule": .string(error.rule), "column": .string(error.column),
                        "problem": .string(error.problem),
                    ]
                ], status: .unprocessableContent)
        case .faults(let line, let problem):
            .json(
                ["error": ["line": .integer(Int64(line)), "problem": .string(problem)]],
                status: .unprocessableContent)
        case .inUse, .badUpstream, .database: problem(.internalServerError, error.description)
        }
    }
}
