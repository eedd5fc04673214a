internal import DavitFaults
internal import DavitHTTP
internal import DavitSQLite
internal import DavitServer
internal import DavitSite

/// Answers a request by the rule that matched it: checks, then the session, then the reply or the collection.
struct RuleReply: Handler {
    let state: StubState
    let work: any BlockingWorkRunner
    let rule: CompiledRule
    /// The checks of the rule that failed.
    let problems: [StubRequest.Problem]
    /// The values in the content that templates of the rule need.
    let found: [JSONValue: String]
    let received: LazyRequest

    /// The name of the cookie with the token of a session.
    static let cookieName = "stub-session"

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        let number = state.count(rule.rule.name)
        var received = received
        if !problems.isEmpty { return .ready(refusal(problems)) }
        let token = Self.token(of: request)
        let session = token.flatMap { state.session($0) }
        if rule.rule.session == .required || rule.rule.session == .end, session == nil {
            return .ready(Self.unauthorized(request))
        }
        if rule.rule.isCollection {
            return CollectionReply(
                database: state.database, work: work, collection: rule.rule.path, received: received,
                isItem: depth > collectionDepth
            ).reply(to: request)
        }
        let hasEffects =
            rule.rule.scenario?.to != nil || rule.rule.session == .start || rule.rule.session == .end
        let reply = try chooseReply(number)
        if !hasEffects, case .file = reply.content {
        } else if !hasEffects {
            return .ready(try response(reply, request, number, session: session?.token, &received))
        }
        let (scenario, use, seconds, name) = (
            rule.rule.scenario, rule.rule.session, rule.rule.sessionSeconds, rule.rule.name
        )
        let newToken = use == .start ? FaultDraws(seed: state.seed ^ rule.number, number).token() : nil
        let finalReceived = received
        return .pending { () async throws(HTTPError) in
            var received = finalReceived
            if hasEffects {
                let state = state
                let outcome = await work.run { () -> Result<Bool, StubError> in
                    do throws(StubError) {
                        if use == .end, let token { _ = try state.endSession(token) }
                        if let newToken {
                            let started = try state.startSession(
                                rule: name, seconds: seconds, token: newToken)
                            if started == nil { return .success(false) }
                        }
                        if let scenario, let to = scenario.to { try state.setScenario(scenario.name, to) }
                        return .success(true)
                    } catch {
                        return .failure(error)
                    }
                }
                guard let outcome else { throw HTTPError(.serviceUnavailable) }
                switch outcome {
                case .failure: throw HTTPError(.internalServerError, "The database of the stub failed.")
                case .success(false): throw HTTPError(.insufficientStorage, "There are too many sessions.")
                case .success(true): break
                }
            }
            var response: HTTPResponse
            if case .file(let file) = reply.content {
                response = try await .file("\(state.folder)/\(file)", for: request, work: work)
                if reply.status != .ok, response.status == .ok { response.status = reply.status }
                for field in reply.fields { response.fields[field.name] = field.value }
            } else {
                let current = use == .end ? nil : newToken ?? session?.token
                response = try self.response(reply, request, number, session: current, &received)
            }
            if let newToken {
                response.setCookie(
                    Cookie(name: Self.cookieName, value: newToken, maxAgeSeconds: Int(seconds)))
            } else if use == .end {
                response.setCookie(Cookie(name: Self.cookieName, value: "", maxAgeSeconds: 0))
            }
            return response
        }
    }

    /// The number of segments of the path; a slash at the end of the path of a collection does not match.
    private var depth: Int { received.path.depth }

    /// The number of segments of a collection's own path.
    private var collectionDepth: Int {
        if case .segments(let segments) = rule.path.kind { segments.count } else { 0 }
    }

    /// The token in `Authorization: Bearer`, or else in the cookie.
    private static func token(of request: HTTPRequest) -> String? {
        if let value = request.fields["Authorization"], value.lowercased().hasPrefix("bearer ") {
            return String(value.dropFirst(7))
        }
        return request.cookies[cookieName]
    }

    private static func unauthorized(_ request: HTTPRequest) -> HTTPResponse {
        var response = HTTPResponse.error(.unauthorized, "This request needs a session.", for: request)
        response.fields.append(named: "WWW-Authenticate", "Bearer realm=\"stub\"")
        return response
    }

    private func refusal(_ problems: [StubRequest.Problem]) -> HTTPResponse {
        let json: JSONValue = [
            "error": .string(
                "The request failed \(problems.count == 1 ? "a check" : "\(problems.count) checks")."),
            "rule": .string(rule.rule.name), "problems": .array(problems.map(\.json)),
        ]
        return .bytes(json.bytes + [10], type: "application/json", status: rule.rule.checkStatus)
    }

    // MARK: The reply

    /// - Throws: 500 if no reply is for the state of the scenario.
    private func chooseReply(_ number: UInt64) throws(HTTPError) -> StubReply {
        let current = rule.rule.scenario.map { state.scenarioState($0.name) }
        let replies = rule.rule.replies.filter { $0.state == nil || $0.state == current }
        guard let last = replies.last else {
            throw HTTPError(.internalServerError, "The rule has no reply for the state of its scenario.")
        }
        switch rule.rule.choice {
        case .cycle: return replies[Int((number - 1) % UInt64(replies.count))]
        case .sequence: return number > UInt64(replies.count) ? last : replies[Int(number - 1)]
        case .random:
            let sum = replies.reduce(0) { $0 + $1.weight }
            var left = FaultDraws(seed: state.seed ^ rule.number, number).fraction() * sum
            for reply in replies {
                if left < reply.weight { return reply }
                left -= reply.weight
            }
            return last
        }
    }

    private func response(
        _ reply: StubReply, _ request: HTTPRequest, _ number: UInt64, session: String?,
        _ received: inout LazyRequest
    ) throws(HTTPError) -> HTTPResponse {
        var response = HTTPResponse(status: reply.status)
        for field in reply.fields { response.fields.append(named: field.name, field.value) }
        let type: StaticString
        switch reply.content {
        case .none, .file: return response
        case .text(let text):
            response.body = .bytes(Array(text.utf8))
            type = "text/plain; charset=utf-8"
        case .json(let value):
            response.body = .bytes(value.bytes)
            type = "application/json"
        case .bytes(let bytes):
            response.body = .bytes(bytes)
            type = "application/octet-stream"
        case .template:
            guard let index = rule.rule.replies.firstIndex(of: reply), let template = rule.templates[index]
            else {
                return response
            }
            type = "text/plain; charset=utf-8"
            let escaping = Template.Escaping(of: response.fields[.contentType] ?? "")
            let values = TemplateValues(
                state: state, request: received.value, session: session, number: number,
                draws: FaultDraws(seed: state.seed ^ rule.number ^ 1, number))
            response.body = .bytes(template.text(escaping) { values.text(of: $0, found) })
        }
        if !response.fields.contains(.contentType) { response.fields.append(.contentType, type) }
        return response
    }
}

extension Template.Escaping {
    /// - Parameter type: the value of Content-Type.
    init(of type: String) {
        let essence = type.prefix { $0 != ";" }.lowercased()
        if essence.hasSuffix("json") {
            self = .json
        } else if essence.hasSuffix("xml") || essence.hasSuffix("html") {
            self = .markup
        } else {
            self = .none
        }
    }
}

/// Random values for one request to one rule, which depend only on the seed, the rule and the number of the
/// request.
struct FaultDraws {
    private var random: FaultRandom

    init(seed: UInt64, _ number: UInt64) { random = FaultRandom(seed: seed, rule: 0, occurrence: number) }

    mutating func next() -> UInt64 { random.next() }

    func fraction() -> Double {
        var random = random
        return random.fraction()
    }

    /// Returns 32 hexadecimal digits.
    func token() -> String {
        var random = random
        return Self.hex(random.next()) + Self.hex(random.next())
    }

    static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
