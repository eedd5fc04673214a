internal import DavitFaults
internal import DavitHTTP
internal import DavitSQLite
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

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        guard let path else { throw HTTPError(.badRequest, "The path is malformed.") }
        var segments = path.path.segments
        if path.endsInSlash { segments.append([]) }
        let candidates = set.trie.candidates(for: segments)
        let isFast = candidates.allSatisfy { set.rules[$0].isFast }
        let search = RuleSearch(state: state, rules: set.rules, candidates: candidates, segments: segments)
        let head = LazyRequest(request, path: path.path, endsInSlash: path.endsInSlash)
        if isFast, !request.body.isPresent {
            return try answer(request, search.decision(for: head), ReceivedContent())
        }
        return .pending { () async throws(HTTPError) in
            // Content is received before the response, even if no rule needs it, so that clients see what they
            // would see of a server that stores it.
            var content = ReceivedContent()
            if request.body.isPresent {
                let needs = ContentIntake.Needs(candidates.map { set.rules[$0] })
                content = try await ContentIntake.receive(request, needs)
                let received = content
                exchange.change { $0.keep(received) }
            }
            var received = head
            received.content = content
            let complete = received
            let decision =
                if isFast {
                    search.decision(for: complete)
                } else {
                    // Conditions can take long: regular expressions, documents of megabytes.
                    await work.runLong(for: request.peerAddress, .begins) { search.decision(for: complete) }
                }
            guard let decision else { throw HTTPError(.serviceUnavailable) }
            return try await answer(request, decision, content).response()
        }
    }

    private func answer(
        _ request: HTTPRequest, _ decision: RuleSearch.Decision, _ content: ReceivedContent
    ) throws(HTTPError) -> Reply {
        exchange.change { entry in
            entry.rule = decision.rule?.rule.name
            entry.misses = decision.misses
            entry.problems = decision.problems
        }
        guard let rule = decision.rule else {
            if let forwarding {
                return forwarding.respond(to: request, content, exchange, state.log, work: work)
            }
            return .ready(.error(.notFound, "No rule matches this request.", for: request))
        }
        let reply = RuleReply(
            state: state, work: work, rule: rule, problems: decision.problems, found: decision.found,
            received: decision.received)
        if let faults = rule.faults { return try faults.handle(request, next: reply) }
        return try reply.respond(to: request)
    }
}

/// Searches the rule for a request, evaluates its conditions and checks, and finds the values for its templates.
struct RuleSearch: Sendable {
    struct Decision: Sendable {
        /// Nil if no rule matches.
        var rule: CompiledRule?
        var misses: [StubRequest.Miss]
        /// The checks of the rule that failed.
        var problems: [StubRequest.Problem] = []
        /// The values in the content that templates of the rule need.
        var found: [JSONValue: String] = [:]
        var received: LazyRequest
    }

    let state: StubState
    let rules: [CompiledRule]
    /// The indexes of the rules to try, in order.
    let candidates: [Int]
    let segments: [ArraySlice<UInt8>]

    /// The maximum number of rules whose reasons are listed.
    private static let missLimit = 20

    func decision(for request: LazyRequest) -> Decision {
        var decision = Decision(misses: [], received: request)
        for index in candidates {
            let rule = rules[index]
            if let reason = reason(rule, &decision.received) {
                if decision.misses.count < Self.missLimit {
                    decision.misses.append(.init(rule: rule.rule.name, reason: reason))
                }
                continue
            }
            decision.rule = rule
            if !rule.checks.isEmpty || !rule.templates.isEmpty {
                decision.received.setParameters(rule.path.parameters(in: segments))
                let value = decision.received.value
                decision.problems = rule.checks.compactMap { $0.problem(in: value) }.map {
                    StubRequest.Problem(subject: $0.subject, problem: $0.problem, value: $0.value)
                }
                for (json, subject) in rule.subjects { decision.found[json] = subject.value(in: value) }
            }
            return decision
        }
        return decision
    }

    /// Returns why a rule does not match; nil if it does.
    private func reason(_ rule: CompiledRule, _ received: inout LazyRequest) -> String? {
        switch rule.path.kind {
        case .segments: break
        case .glob(_, let glob): if !glob.matches(received.path) { return "the path differs" }
        case .regex(let pattern): if !pattern.matches(received.value.path) { return "the path differs" }
        }
        let (methods, method) = (rule.rule.methods, received.method)
        let isHead = method == .head && methods.contains(.get)
        guard methods.isEmpty || methods.contains(method) || isHead else {
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
struct LazyRequest: Sendable {
    let path: ResourcePath
    /// The content; set before conditions are evaluated.
    var content = ReceivedContent()
    private let request: HTTPRequest
    private let endsInSlash: Bool
    private var made: ReceivedRequest?

    init(_ request: HTTPRequest, path: ResourcePath, endsInSlash: Bool) {
        self.request = request
        self.path = path
        self.endsInSlash = endsInSlash
    }

    var method: HTTPMethod { request.method }

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
