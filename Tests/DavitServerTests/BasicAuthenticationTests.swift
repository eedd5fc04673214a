import DavitHTTP
import DavitServer
import Testing

struct BasicAuthenticationTests {
    static func makeHandler() throws -> BasicAuthentication<Greeter> {
        var accounts = Accounts()
        try accounts.add(name: "anna", password: "open:sesame")
        try accounts.add(name: "jörg", password: "pässword")
        try accounts.add(name: "long", password: String(repeating: "x", count: Accounts.limitBytes))
        var fields = HTTPFields()
        fields.append(.dav, "1, 2, 3")
        fields.append(.msAuthorVia, "DAV")
        return BasicAuthentication(accounts: accounts, optionsFields: fields, next: Greeter())
    }

    static let accepted: [(credentials: String, name: String)] = [
        // RFC 7617 §2: the first colon ends the name. anna:open:sesame
        ("Basic YW5uYTpvcGVuOnNlc2FtZQ==", "anna"),
        // RFC 9110 §11.1: the scheme in any case.
        ("bAsIc YW5uYTpvcGVuOnNlc2FtZQ==", "anna"),
        // §2.1: UTF-8. jörg:pässword
        ("Basic asO2cmc6cMOkc3N3b3Jk", "jörg"),
    ]

    @Test(arguments: accepted)
    func letsAccountsThrough(credentials: String, name: String) async throws {
        let request = try makeRequest("PUT /f HTTP/1.1", "Host: a", "Authorization: \(credentials)")
        let response = try await Self.makeHandler().respond(to: request)
        #expect(response.status == .noContent)
        #expect(response.fields.first(.etag) == name)
    }

    static let refused: [[String]] = [
        [],
        ["Authorization:"],
        ["Authorization: Basic"],
        ["Authorization: Bearer"],
        ["Authorization: Digest username=\"anna\""],
        ["Authorization: Basic ***"],
        // anna:open:sesam, anna:open:sesamee, anna:, Anna:open:sesame, nobody:open:sesame, no colon
        ["Authorization: Basic YW5uYTpvcGVuOnNlc2Ft"],
        ["Authorization: Basic YW5uYTpvcGVuOnNlc2FtZWU="],
        ["Authorization: Basic YW5uYTo="],
        ["Authorization: Basic QW5uYTpvcGVuOnNlc2FtZQ=="],
        ["Authorization: Basic bm9ib2R5Om9wZW46c2VzYW1l"],
        ["Authorization: Basic YW5uYQ=="],
        // Twice, and both right.
        [
            "Authorization: Basic YW5uYTpvcGVuOnNlc2FtZQ==",
            "Authorization: Basic YW5uYTpvcGVuOnNlc2FtZQ==",
        ],
    ]

    @Test(arguments: refused, ["GET", "PROPFIND", "PUT", "OPTIONS", "BREW"])
    func challengesAllOthers(fields: [String], method: String) async throws {
        let request = HTTPRequest()
        var parser = HeadParser()
        let lines = ["\(method) /f HTTP/1.1", "Host: a"] + fields + ["", ""]
        let head = Array(lines.joined(separator: "\r\n").utf8)
        _ = try unsafe head.withUnsafeBytes { try unsafe parser.parse($0, into: request) }

        let response = try await Self.makeHandler().respond(to: request)
        #expect(response.status == .unauthorized)
        #expect(response.fields.first(.wwwAuthenticate) == #"Basic realm="davit", charset="UTF-8""#)
        #expect(response.fields.first(.etag) == nil)
        #expect(request.principal == nil)
        // What a client may learn before it has a password.
        #expect((response.fields.first(.dav) != nil) == (method == "OPTIONS"))
        #expect((response.fields.first(.msAuthorVia) != nil) == (method == "OPTIONS"))
    }

    static let lengths: [(added: Int, status: HTTPStatus)] = [
        (-1, .unauthorized), (0, .noContent), (1, .unauthorized), (300, .unauthorized),
    ]

    @Test(arguments: lengths)
    func comparesTheWholePassword(added: Int, status: HTTPStatus) async throws {
        let pair = "long:" + String(repeating: "x", count: Accounts.limitBytes + added)
        let request = try makeRequest(
            "GET / HTTP/1.1", "Host: a", "Authorization: Basic \(base64(Array(pair.utf8)))")
        #expect(try await Self.makeHandler().respond(to: request).status == status)
    }

    static let badAccounts: [(name: String, password: String, problem: Accounts.Problem)] = [
        ("", "x", .badName), ("a:b", "x", .badName), ("a", "", .emptyPassword),
        ("a\n", "x", .controlCharacter), ("a", "x\0", .controlCharacter), ("a", "x\u{7f}", .controlCharacter),
        (String(repeating: "a", count: 257), "x", .tooLong),
        ("a", String(repeating: "ö", count: 129), .tooLong),
        ("taken", "x", .duplicate),
    ]

    @Test(arguments: badAccounts)
    func refusesAccountsThatCouldNotWork(name: String, password: String, problem: Accounts.Problem) throws {
        var accounts = Accounts()
        try accounts.add(name: "taken", password: "y")
        #expect(throws: problem) { try accounts.add(name: name, password: password) }
    }

    private func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            bits <<= UInt32(8 * (3 - group.count))
            for index in 0..<4 {
                let isPadding = index > group.count
                text.append(
                    isPadding ? UInt8(ascii: "=") : alphabet[Int(bits >> UInt32(18 - 6 * index) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
