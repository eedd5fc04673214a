import DavitAccess
import DavitHTTP
import DavitTesting
import Testing

/// The principal of a request.
@Suite struct IdentityTests {
    private static let limit = AccessLimit(path: ResourcePath(segments: [Array("team".utf8)])!, rights: .view)

    static let principals: [Principal] =
        [.anonymous]
        + Principal.Kind.allCases.filter { $0 != .anonymous }.flatMap { kind in
            [
                Principal(kind, "anna"), Principal(kind, "anna", groups: ["staff"]),
                Principal(kind, "anna", limit: limit),
                Principal(kind, "anna", groups: ["staff"], limit: limit),
            ]
        }

    private func request() throws -> HTTPRequest {
        try HTTPRequest(parsing: Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
    }

    @Test(arguments: principals) func identityIsWhatWasSet(_ principal: Principal) throws {
        let request = try request()
        request.identity = principal
        #expect(request.identity == principal)
        #expect(request.principal == principal.name)
        #expect(request.bare().identity == principal)
    }

    @Test func namesAreIdentitiesOfAccounts() throws {
        let request = try request()
        #expect(request.identity == .anonymous)
        request.principal = "anna"
        #expect(request.identity == Principal(.account, "anna"))
    }

    /// The limit of one login never applies to another, and is not lost by a later request on the connection.
    @Test(arguments: principals) func laterNamesReplaceTheIdentity(_ principal: Principal) throws {
        let request = try request()
        request.identity = principal
        request.principal = "ben"
        #expect(request.identity == Principal(.account, "ben"))
        request.identity = principal
        request.identity = .anonymous
        #expect(request.identity == .anonymous && request.principal == nil)
        request.identity = principal
        request.removeAll()
        #expect(request.identity == .anonymous && request.principal == nil)
    }
}
