import DavitStub
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client as an app would have it: logs in, and tries again if the server is overloaded.
struct LoginClient {
    struct Refused: Error { var status: Int }

    let server: URL

    func logIn(_ email: String, attempts: Int = 3) async throws -> String {
        var request = URLRequest(url: server.appending(path: "login"))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(["email": email])
        var status = 0
        for _ in 0..<attempts {
            let (data, response) = try await URLSession.shared.data(for: request)
            status = (response as? HTTPURLResponse)?.statusCode ?? 0
            if status == 200 {
                return try JSONDecoder().decode([String: String].self, from: data)["token"] ?? ""
            }
            if status != 503 { break }
        }
        throw Refused(status: status)
    }
}

/// How to test a client with a stub server: each test has a server of its own on a free port.
struct LoginClientTests {
    private let stub: StubServer
    private let client: LoginClient

    init() throws {
        stub = try StubServer(seed: 42)
        client = LoginClient(server: try #require(URL(string: try stub.start())))
    }

    @Test func logsIn() async throws {
        try stub.on(.post, "/login")
            .requiring(json: "$.email", format: "email")
            .reply(.json(["token": "abc"]))
        #expect(try await client.logIn("anna@example.org") == "abc")
        let request = try await stub.waitForRequest(.post, "/login")
        #expect(request.fields.contains { $0.name == "Content-Type" && $0.value == "application/json" })
        await stub.stop()
    }

    @Test func triesAgainWhenTheServerIsOverloaded() async throws {
        try stub.on(.post, "/login").faults("status=503 first=2").reply(.json(["token": "abc"]))
        #expect(try await client.logIn("anna@example.org") == "abc")
        #expect(stub.requests.count == 3)
        await stub.stop()
    }

    @Test func doesNotRepeatARefusedLogin() async throws {
        try stub.on(.post, "/login").requiring(json: "$.email", format: "email").reply(
            .json(["token": "abc"]))
        await #expect(throws: LoginClient.Refused.self) { try await client.logIn("nobody") }
        #expect(stub.requests.map(\.problems.count) == [1])
        await stub.stop()
    }
}
