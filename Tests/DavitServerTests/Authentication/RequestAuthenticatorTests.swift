import DavitAccess
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// Authentication without an Authorization field.
struct RequestAuthenticatorTests {
    /// Signs in requests with the field `X-Name`, and refuses those with the field `X-Refused`.
    private struct FieldAuthenticator: RequestAuthenticator {
        func claims(_ request: HTTPRequest) -> Bool { request.fields["X-Name"] != nil }

        func authenticate(
            _ request: HTTPRequest, for authentication: Authentication
        ) throws(HTTPError) -> AuthenticatorDecision? {
            if request.fields["X-Refused"] != nil {
                return .response(.ready(.text("refused", status: .forbidden)))
            }
            return request.fields["X-Name"].map { .admitted(name: $0, number: 7) }
        }
    }

    private struct Echo: Handler {
        var isCacheable = false

        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            var response = HTTPResponse.text("\(request.principal ?? "") \(request.credentialNumber)")
            if isCacheable { response.fields.append(.cacheControl, "max-age=1") }
            return .ready(response)
        }
    }

    private func send(
        _ fields: [String], to handler: Echo = Echo()
    ) async throws -> (response: HTTPResponse, text: String) {
        var accounts = Accounts()
        try accounts.add(name: "anna", password: "open")
        let authentication = try Authentication(
            accounts: accounts, work: InlineWork(), authenticators: [FieldAuthenticator()], now: { 0 })
        let head = (["GET / HTTP/1.1", "Host: a"] + fields + ["", ""]).joined(separator: "\r\n")
        let request = try HTTPRequest(parsing: Array(head.utf8))
        let response = try await handler.applying(authentication).respond(to: request).response()
        guard case .bytes(let bytes) = response.body else { return (response, "") }
        return (response, String(decoding: bytes, as: UTF8.self))
    }

    private let anna = "Authorization: Basic \(Base64.encode(Array("anna:open".utf8)))"

    @Test func authenticatorsDecideAboutRequestsWithoutCredentials() async throws {
        #expect(try await send(["X-Name: ben"]).text == "ben 7")
        #expect(try await send(["X-Refused: 1", "X-Name: ben"]).response.status == .forbidden)
        let undecided = try await send([]).response
        #expect(undecided.status == .unauthorized && !undecided.fields.challenges.isEmpty)
    }

    /// Credentials in the request always decide, even if they are wrong.
    @Test func credentialsPrecedeAuthenticators() async throws {
        #expect(try await send([anna, "X-Refused: 1", "X-Name: ben"]).text.hasPrefix("anna "))
        let wrong = "Authorization: Basic \(Base64.encode(Array("anna:wrong".utf8)))"
        #expect(try await send([wrong, "X-Name: ben"]).response.status == .unauthorized)
        #expect(try await send([anna, anna, "X-Name: ben"]).response.status == .unauthorized)
        #expect(try await send(["Authorization:", "X-Name: ben"]).response.status == .unauthorized)
    }

    /// RFC 9111 §3.5 protects only responses to requests with an Authorization field.
    @Test func responsesAreNotStoredBySharedCaches() async throws {
        let response = try await send(["X-Name: ben"]).response
        #expect(response.fields.first(.cacheControl) == "private, no-cache")
        #expect(try await send([anna]).response.fields.first(.cacheControl) == nil)
        let own = try await send(["X-Name: ben"], to: Echo(isCacheable: true)).response
        #expect(own.fields.first(.cacheControl) == "private, max-age=1")
    }

    @Test func authenticatorsPrecedeAnonymousRights() async throws {
        var accounts = Accounts()
        try accounts.add(name: "anna", password: "open")
        let authentication = try Authentication(
            accounts: accounts, work: InlineWork(), authenticators: [FieldAuthenticator()],
            anonymousRights: { _ in .view }, now: { 0 })
        let rows = [("X-Other: 1", " 0"), ("X-Name: ben", "ben 7"), (anna, "anna ")]
        for (field, text) in rows {
            let request = try HTTPRequest(
                parsing: Array("GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n".utf8))
            let response = try await Echo().applying(authentication).respond(to: request).response()
            guard case .bytes(let bytes) = response.body else {
                Issue.record("no content for \(field)")
                continue
            }
            #expect(String(decoding: bytes, as: UTF8.self).hasPrefix(text), "\(field)")
        }
    }
}
