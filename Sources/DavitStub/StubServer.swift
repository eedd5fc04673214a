public import Davit
public import DavitHTTP
internal import DavitRecording
internal import DavitSQLite
internal import DavitServer

/// A stand-in server for people who build clients: it answers by rules, checks requests, fails on purpose, and
/// remembers what it has received.
///
/// ```swift
/// let stub = try StubServer()
/// try stub.on(.post, "/login")
///     .requiring(json: "$.email", format: "email")
///     .reply(.json(["token": "abc"]))
///     .failing(probability: 0.1)
/// let url = try stub.start()
/// ...
/// #expect(stub.requests.count == 1)
/// await stub.stop()
/// ```
/// The rules and the state are in memory, or in a database that `davit stub` also uses. While the server runs, its
/// control page is at `/.davit/`.
public final class StubServer: Sendable {
    /// The configuration of a stub server: that of a ``WebServer``, where clients on all addresses are allowed
    /// without accounts, any host name is accepted, and content is sent as the rules say.
    public static var defaultConfiguration: Configuration {
        var configuration = Configuration()
        configuration.port = 0
        configuration.hosts = ["127.0.0.1"]
        configuration.allowsAnonymousVisitors = true
        configuration.allowsCrossSiteForms = true
        configuration.compresses = false
        configuration.grace = .seconds(1)
        configuration.logLevel = .error
        return configuration
    }

    let state: StubState
    /// The server; for its events, addresses and life cycle.
    public let server: WebServer

    /// Opens the database, but does not listen yet. Blocks.
    ///
    /// - Parameters:
    ///   - database: the path of the database, which is created if it does not exist; nil for rules in memory.
    ///   - folder: the folder of files for replies and schemas; nil for that of the database.
    ///   - seed: for everything random; nil for a random one, see ``seed``.
    ///   - upstream: the URL of a server to which requests are forwarded that no rule matches; nil to answer them
    ///     with 404.
    /// - Throws: ``StubError`` or ``Davit/ServerError``.
    public init(
        database: String? = nil, folder: String? = nil, seed: UInt64? = nil,
        forwardingTo upstream: String? = nil,
        configuration: Configuration = StubServer.defaultConfiguration
    ) throws {
        // A short number is easier to repeat.
        let seed = seed ?? UInt64.random(in: 0..<1_000_000_000)
        state = try StubState(
            path: database, folder: folder ?? Self.folder(of: database), seed: seed)
        var forwarding: Forwarding?
        if let upstream {
            guard let address = ServerAddress(parsing: upstream) else {
                throw StubError.badUpstream(upstream)
            }
            forwarding = Forwarding(server: address)
        }
        server = try WebServer(
            StubApplication(state: state, forwarding: forwarding), configuration: configuration)
    }

    private static func folder(of database: String?) -> String {
        guard let database, let slash = database.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == database.startIndex ? "/" : String(database[..<slash])
    }

    /// The seed of everything random. With the same seed, the same requests get the same responses and faults.
    public var seed: UInt64 { state.seed }

    /// Starts to listen.
    /// - Returns: the URL of the server, with a trailing slash.
    /// - Throws: ``Davit/ServerError``.
    @discardableResult
    public func start() throws(ServerError) -> String {
        try server.start()
        return server.url ?? ""
    }

    /// The URL of the server, with a trailing slash; nil while it is not running.
    public var url: String? { server.url }

    /// Stops the server, and returns when it has stopped.
    public func stop() async { await server.stop() }

    // MARK: Rules

    /// Adds a rule for a method and a path; see ``StubRule/path``. Without a reply, it answers with 200 and no
    /// content.
    /// - Returns: the rule, for further changes; its name is the method and the path, with a number if that is
    ///   taken.
    /// - Throws: ``StubError``.
    @discardableResult
    public func on(_ method: HTTPMethod? = nil, _ path: String) throws(StubError) -> StubRuleEditor {
        let base = String("\(method?.rawValue ?? "*") \(path)".prefix(90))
        let names = Set(state.rules.map(\.rule.name))
        var name = base
        var number = 2
        while names.contains(name) {
            name = "\(base) (\(number))"
            number += 1
        }
        var rule = StubRule(name, method.map { [$0] } ?? [], path: path)
        rule.replies = [StubReply()]
        try state.store(rule)
        return StubRuleEditor(state: state, rule: rule, hasReply: false)
    }

    /// Stores JSON objects below a path: POST adds one, GET returns one or all, PUT, PATCH and DELETE change one.
    /// - Throws: ``StubError``.
    public func collection(_ path: String) throws(StubError) {
        var rule = StubRule("collection \(path)", path: path)
        rule.isCollection = true
        try state.store(rule)
    }

    /// Adds a rule as the newest one, which is tried first, or replaces the rule with the same name.
    /// - Throws: ``StubError``; the rules are then unchanged.
    public func store(_ rule: StubRule) throws(StubError) { try state.store(rule) }

    /// The rules, the newest first.
    public var rules: [StubRule] { state.rules.map(\.rule) }

    /// - Returns: whether there was such a rule.
    /// - Throws: ``StubError``.
    @discardableResult
    public func removeRule(named name: String) throws(StubError) -> Bool { try state.removeRule(named: name) }

    /// Replaces the fault rules for all requests, in the language of `davit serve --faults`, such as
    /// `* /** profile=3g`; empty for none.
    /// - Throws: ``StubError``; the rules are then unchanged.
    public func setFaults(_ text: String) throws(StubError) { try state.setFaults(text) }

    // MARK: What the server has seen

    /// The requests since the last reset, the oldest first: at most 10,000, with at most 64 MiB of content.
    public var requests: [StubRequest] { state.log.requests().requests }

    /// Waits for a request, or returns one that has already been received.
    /// - Parameters:
    ///   - method: nil for all methods.
    ///   - path: a path as in ``StubRule/path``.
    ///   - number: the number of such requests to wait for.
    /// - Returns: the request with this number among those that match.
    /// - Throws: ``StubError`` for a path that cannot be used; `CancellationError` if the task is cancelled.
    public func waitForRequest(
        _ method: HTTPMethod? = nil, _ path: String, number: Int = 1
    ) async throws -> StubRequest {
        var members: [JSONMember] = [.init("path", .string(path))]
        if let method { members.append(.init("methods", [.string(method.rawValue)])) }
        let wanted = try Verification(json: .object(members), folder: state.folder)
        let (stream, continuation) = AsyncStream.makeStream(
            of: RequestLog.Event.self, bufferingPolicy: .bufferingNewest(1))
        guard let observer = state.log.addObserver({ continuation.yield($0) }) else {
            throw CancellationError()
        }
        defer { state.log.removeObserver(observer) }
        var events = stream.makeAsyncIterator()
        while true {
            let found = requests.filter { wanted.matches($0) }
            if found.count >= number { return found[max(number, 1) - 1] }
            guard await events.next() != nil else { throw CancellationError() }
        }
    }

    /// Forgets all requests, scenario states, sessions, counters and objects of collections. Keeps the rules.
    /// - Throws: ``StubError``.
    public func reset() throws(StubError) { try state.reset(requests: true, states: true) }
}

/// The application of a stub server.
struct StubApplication: Mountable {
    let state: StubState
    /// Where requests go that no rule matches; nil to answer them with 404.
    var forwarding: Forwarding?

    func handler(in environment: ServerEnvironment) throws -> any Handler {
        let control = StubControl(state: state, work: environment.work)
        func handler(_ control: some Handler) -> any Handler {
            StubHandler(state: state, work: environment.work, control: control, forwarding: forwarding)
        }
        return handler(control.handler())
    }
}
