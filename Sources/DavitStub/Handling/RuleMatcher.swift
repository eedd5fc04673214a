internal import DavitFaults
internal import DavitHTTP
internal import DavitServer

/// Finds the rule for one request, and answers by it.
struct RuleMatcher: Handler {
    let state: StubState
    let set: StubState.RuleSet
    let work: any BlockingWorkRunner
    let exchange: StubExchange
    /// Where requests go that no rule matches; nil to answer them with 404.
    let forwarding: Forwarding?
    /// Nil if the path is malformed.
    let path: (path: ResourcePath, endsInSlash: Bool)?

    /// The maximum number of rules whose reasons are listed.
    private static let missLimit = 20

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        guard let path else { throw HTTPError(.badRequest, "The path is malformed.") }
        var segments = path.path.segments
        if path.endsInSlash { segments.append([]) }
        let candidates = set.trie.candidates(for: segments)
        // Content is received before the response, even if no rule needs it, so that clients see what they would
        // see of a server that stores it.
        if request.body.isPresent {
            let (segments, candidates) = (segments, candidates)
            return .pending { () async throws(HTTPError) in
                let needs = ContentIntake.Needs(candidates.map { set.rules[$0] })
                let content = try await ContentIntake.receive(request, needs)
                exchange.change { $0.keep(content) }
                return try await answer(request, candidates, segments, path.path, content).response()
            }
        }
        return try answer(request, candidates, segments, path.path, ReceivedContent())
    }

    private func answer(
        _ request: HTTPRequest, _ candidates: [Int], _ segments: [ArraySlice<UInt8>], _ path: ResourcePath,
        _ content: ReceivedContent
    ) throws(HTTPError) -> Reply {
        var received = LazyRequest(
            request, path: path, endsInSlash: segments.last?.isEmpty == true, content: content)
        var misses: [StubRequest.Miss] = []
        for index in candidates {
            let rule = set.rules[index]
            if let reason = reason(rule, request, &received, segments) {
                if misses.count < Self.missLimit {
                    misses.append(.init(rule: rule.rule.name, reason: reason))
                }
                continue
            }
            let name = rule.rule.name
            let skipped = misses
            exchange.change { entry in
                entry.rule = name
                entry.misses = skipped
            }
            let reply = RuleReply(
                state: state, work: work, exchange: exchange, rule: rule, received: received,
                segments: segments)
            if let faults = rule.faults { return try faults.handle(request, next: reply) }
            return try reply.respond(to: request)
        }
        let reasons = misses
        exchange.change { $0.misses = reasons }
        if let forwarding {
            return forwarding.respond(to: request, content, exchange, state.log, work: work)
        }
        return .ready(.error(.notFound, "No rule matches this request.", for: request))
    }

    /// Returns why a rule does not match; nil if it does.
    private func reason(
        _ rule: CompiledRule, _ request: HTTPRequest, _ received: inout LazyRequest,
        _ segments: [ArraySlice<UInt8>]
    ) -> String? {
        switch rule.path.kind {
        case .segments: break
        case .glob(_, let glob):
            guard let path, glob.matches(path.path) else { return "the path differs" }
        case .regex(let pattern):
            guard pattern.matches(received.value.path) else { return "the path differs" }
        }
        let methods = rule.rule.methods
        let isHead = request.method == .head && methods.contains(.get)
        guard methods.isEmpty || methods.contains(request.method) || isHead else {
            return "the method is not \(methods.map(\.rawValue).joined(separator: " or "))"
        }
        if let scenario = rule.rule.scenario, let from = scenario.from {
            let current = state.scenarioState(scenario.name)
            if current != from { return "scenario \(scenario.name) is in state '\(current)', not '\(from)'" }
        }
        if !rule.conditions.isEmpty {
            received.setParameters(rule.path.parameters(in: segments))
            for condition in rule.conditions {
                if let problem = condition.problem(in: received.value) {
                    return "\(problem.subject): \(problem.problem)"
                }
            }
        }
        return nil
    }
}

/// A request in the form that conditions need, which is created on first use.
struct LazyRequest {
    private let request: HTTPRequest
    private let path: ResourcePath
    private let endsInSlash: Bool
    private let content: ReceivedContent
    private var made: ReceivedRequest?

    init(_ request: HTTPRequest, path: ResourcePath, endsInSlash: Bool, content: ReceivedContent) {
        self.request = request
        self.path = path
        self.endsInSlash = endsInSlash
        self.content = content
    }

    var value: ReceivedRequest {
        mutating get {
            if let made { return made }
            let text = path.description + (endsInSlash && !path.isRoot ? "/" : "")
            var value = ReceivedRequest(method: request.method, path: text)
            value.query = request.query.map { .init(name: $0.name, value: $0.value) }
            value.fields = request.fields.map { .init(name: $0.name, value: $0.value) }
            value.content = content
            made = value
            return value
        }
    }

    mutating func setParameters(_ parameters: [ReceivedRequest.Item]) {
        var value = value
        value.parameters = parameters
        made = value
    }
}
