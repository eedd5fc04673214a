import DavitHTTP
import DavitSQLite
import DavitServer
import DavitTesting

@testable import DavitStub

/// A stub server without a socket.
struct StubFixture {
    /// Runs work on the thread of the caller.
    private struct Work: BlockingWorkRunner {
        func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { work() }
    }

    struct Application: Handler {
        let handler: any Handler
        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply { try handler.respond(to: request) }
    }

    let state: StubState
    let client: TestClient<Application>

    init(path: String? = nil, folder: String = ".", seed: UInt64 = 1) throws {
        state = try StubState(path: path, folder: folder, seed: seed)
        let environment = ServerEnvironment(work: Work(), background: { _ in false })
        client = TestClient(Application(handler: try StubApplication(state: state).handler(in: environment)))
    }

    /// Adds rules, which are JSON texts; the last is the newest.
    init(seed: UInt64 = 1, folder: String = ".", _ rules: String...) throws {
        try self.init(path: nil, folder: folder, seed: seed)
        for rule in rules { try add(rule) }
    }

    func add(_ rule: String) throws {
        guard let json = JSONParser.parse(rule) else {
            throw RuleError(column: "", "the test's rule is not JSON")
        }
        try state.store(try StubRule(json: json))
    }

    func send(
        _ method: String, _ target: String, _ fields: [(String, String)] = [], _ content: String? = nil
    ) async throws -> TestResponse {
        try await client.send(method, target, fields, body: content.map { Array($0.utf8) })
    }

    func text(_ method: String, _ target: String, _ content: String? = nil) async throws -> String {
        try await send(method, target, [], content).text
    }

    /// Sends a request to the API and returns the status and the JSON of the response.
    func api(_ method: String, _ path: String, _ content: String? = nil) async throws -> (UInt16, JSONValue?)
    {
        let response = try await send(method, "/.davit/api/\(path)", [], content)
        return (response.status, JSONParser.parse(response.body))
    }
}
