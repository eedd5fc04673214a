internal import DavitFaults
internal import DavitHTTP
internal import DavitSystem
internal import Synchronization

/// The rules and the state of a stub server: in memory for requests, and in the database for the next start.
final class StubState: Sendable {
    /// The rules that requests are matched against; replaced as a whole.
    struct RuleSet: Sendable {
        /// The oldest first.
        var rules: [CompiledRule] = []
        var trie = RuleTrie()
        /// For all requests; nil without fault rules.
        var faults: FaultInjector?
        var faultText = ""

        mutating func index() {
            trie = RuleTrie()
            for (index, rule) in rules.enumerated() where rule.rule.isEnabled {
                trie.insert(rule.path, index, isCollection: rule.rule.isCollection)
            }
        }
    }

    private struct Live {
        var set = RuleSet()
        /// The number of requests that each rule matched.
        var hits: [String: UInt64] = [:]
        /// The states other than the initial one.
        var scenarios: [String: String] = [:]
        var sessions: [String: StubSession] = [:]
        var counters: [String: Int64] = [:]
    }

    static let ruleLimit = 10_000
    static let sessionLimit = 10_000
    static let counterLimit = 10_000

    let database: StubDatabase
    let log = RequestLog()
    /// The folder of files for replies and schemas.
    let folder: String
    let seed: UInt64
    private let live = Mutex(Live())
    /// Held while rules or faults are changed, so that memory and database change in the same order.
    private let changes = Mutex(())

    /// Opens the database and reads everything. Blocks.
    /// - Parameters:
    ///   - path: nil for a database in memory.
    ///   - seed: for everything random.
    init(path: String?, folder: String, seed: UInt64) throws(StubError) {
        database = try StubDatabase(path: path)
        self.folder = folder
        self.seed = seed
        var live = Live()
        for rule in try database.rules().reversed() { live.set.rules.append(try compiled(rule)) }
        live.set.index()
        live.set.faultText = try database.faults()
        live.set.faults = try faults(live.set.faultText)
        live.scenarios = try database.scenarios()
        for session in try database.sessions() { live.sessions[session.token] = session }
        let read = live
        self.live.withLock { $0 = read }
    }

    private func compiled(_ rule: StubRule) throws(StubError) -> CompiledRule {
        do throws(RuleError) { return try CompiledRule(rule, folder: folder, seed: seed) } catch {
            throw .rule(error)
        }
    }

    /// Returns nil for a text without rules.
    private func faults(_ text: String) throws(StubError) -> FaultInjector? {
        do throws(FaultRuleError) {
            // A seed in the text is on a later line and wins.
            let rules = try FaultRuleSet(parsing: "seed=\(seed)\n" + text)
            if rules.certificateFault != nil {
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                let index = lines.firstIndex { $0.drop(while: \.isWhitespace).hasPrefix("tls=") } ?? 0
                throw FaultRuleError(
                    line: index + 2, text: "tls",
                    problem: "a running server keeps its certificate; use --tls-fault")
            }
            return rules.rules.isEmpty ? nil : FaultInjector(rules)
        } catch {
            throw .faults(line: error.line - 1, problem: "\(error.text): \(error.problem)")
        }
    }

    var ruleSet: RuleSet { live.withLock { $0.set } }

    // MARK: Changing rules

    /// The rules with their numbers of requests, the newest first.
    var rules: [(rule: StubRule, hits: UInt64)] {
        live.withLock { live in live.set.rules.reversed().map { ($0.rule, live.hits[$0.rule.name] ?? 0) } }
    }

    /// Adds a rule as the newest one, or replaces the rule with the same name. Blocks.
    /// - Returns: whether the rule is new.
    /// - Throws: ``StubError``; nothing is then changed.
    @discardableResult
    func store(_ rule: StubRule) throws(StubError) -> Bool {
        let compiled = try compiled(rule)
        return try changes.withLock { _ throws(StubError) in
            var set = ruleSet
            let index = set.rules.firstIndex { $0.rule.name == rule.name }
            if let index { set.rules[index] = compiled } else { set.rules.append(compiled) }
            try Self.checkCount(set.rules.count, rule.name)
            try database.store(rule)
            publish(set)
            return index == nil
        }
    }

    /// Replaces all rules; the first is the newest. Blocks.
    func replaceRules(_ rules: [StubRule]) throws(StubError) {
        var compiled: [CompiledRule] = []
        var names: Set<String> = []
        for rule in rules.reversed() {
            guard names.insert(rule.name).inserted else {
                throw .rule(RuleError(rule: rule.name, column: "name", "two rules have this name"))
            }
            compiled.append(try self.compiled(rule))
        }
        try Self.checkCount(compiled.count, "")
        let replacement = compiled
        try changes.withLock { _ throws(StubError) in
            var set = ruleSet
            set.rules = replacement
            try database.replaceRules(rules)
            publish(set)
        }
    }

    /// Replaces the rule `name`, if it exists, by one with another name, as the newest one. Blocks.
    /// - Returns: whether there was no such rule.
    func rename(_ name: String, to rule: StubRule) throws(StubError) -> Bool {
        try store(rule)
        return try !removeRule(named: name)
    }

    /// - Returns: whether there was such a rule. Blocks.
    func removeRule(named name: String) throws(StubError) -> Bool {
        try changes.withLock { _ throws(StubError) in
            var set = ruleSet
            set.rules.removeAll { $0.rule.name == name }
            guard try database.removeRule(named: name) else { return false }
            publish(set)
            return true
        }
    }

    /// Replaces the fault rules for all requests. Blocks.
    func setFaults(_ text: String) throws(StubError) {
        let injector = try faults(text)
        try changes.withLock { _ throws(StubError) in
            try database.setFaults(text)
            var set = ruleSet
            set.faults = injector
            set.faultText = text
            publish(set)
        }
    }

    private static func checkCount(_ count: Int, _ name: String) throws(StubError) {
        guard count <= ruleLimit else {
            throw .rule(RuleError(rule: name, column: "", "there are already \(ruleLimit) rules"))
        }
    }

    private func publish(_ set: RuleSet) {
        var set = set
        set.index()
        let published = set
        live.withLock { $0.set = published }
        log.send(.rules)
    }

    // MARK: State

    /// Counts a request that a rule matched, and returns its number.
    func count(_ rule: String) -> UInt64 {
        live.withLock { live in
            live.hits[rule, default: 0] += 1
            return live.hits[rule] ?? 0
        }
    }

    func scenarioState(_ name: String) -> String {
        live.withLock { $0.scenarios[name] } ?? StubRule.Scenario.initialState
    }

    /// All scenarios that rules name, with their states.
    var scenarios: [String: String] {
        live.withLock { live in
            var states: [String: String] = [:]
            for rule in live.set.rules {
                guard let name = rule.rule.scenario?.name else { continue }
                states[name] = live.scenarios[name] ?? StubRule.Scenario.initialState
            }
            return states
        }
    }

    /// Blocks.
    func setScenario(_ name: String, _ state: String) throws(StubError) {
        try changes.withLock { _ throws(StubError) in
            try database.setScenario(name, state)
            live.withLock { $0.scenarios[name] = state }
        }
        log.send(.state)
    }

    /// Returns the session with this token unless it has expired.
    func session(_ token: String) -> StubSession? {
        guard let session = live.withLock({ $0.sessions[token] }) else { return nil }
        return session.expiry > Self.now ? session : nil
    }

    var sessions: [StubSession] {
        let now = Self.now
        return live.withLock { $0.sessions.values.filter { $0.expiry > now } }.sorted { $0.start < $1.start }
    }

    /// Starts a session. Blocks.
    /// - Returns: nil if there are too many sessions.
    func startSession(rule: String, seconds: Int64, token: String) throws(StubError) -> StubSession? {
        let now = Self.now
        let session = StubSession(token: token, rule: rule, start: now, expiry: now + seconds)
        let (isAdded, expired) = live.withLock { live in
            let expired = live.sessions.values.filter { $0.expiry <= now }.map(\.token)
            for token in expired { live.sessions[token] = nil }
            guard live.sessions.count < Self.sessionLimit else { return (false, expired) }
            live.sessions[token] = session
            return (true, expired)
        }
        if !expired.isEmpty { try database.removeSessions(expired) }
        guard isAdded else { return nil }
        try database.add(session)
        log.send(.state)
        return session
    }

    /// - Returns: whether there was such a session. Blocks.
    func endSession(_ token: String) throws(StubError) -> Bool {
        guard live.withLock({ $0.sessions.removeValue(forKey: token) }) != nil else { return false }
        try database.removeSessions([token])
        log.send(.state)
        return true
    }

    /// Returns the next value of a counter; 0 if there are too many counters.
    func nextValue(of counter: String) -> Int64 {
        live.withLock { live in
            guard live.counters.count < Self.counterLimit || live.counters[counter] != nil else { return 0 }
            live.counters[counter, default: 0] += 1
            return live.counters[counter] ?? 0
        }
    }

    var counters: [String: Int64] { live.withLock { $0.counters } }

    /// Forgets requests, state, or both. Blocks.
    func reset(requests: Bool, states: Bool) throws(StubError) {
        if requests {
            log.removeAll()
            live.withLock { $0.hits = [:] }
        }
        if states {
            try database.removeState()
            live.withLock { live in
                live.scenarios = [:]
                live.sessions = [:]
                live.counters = [:]
            }
        }
        log.send(.reset)
    }

    static var now: Int64 { Clock.wallNow() / 1_000_000_000 }
}
