#if TLS
import DavitHTTP
import DavitWebClient
import Testing

@testable import DavitACME

struct ACMEDocumentTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    // MARK: Directory

    private static let directory = """
        {"newNonce":"https://a/n","newAccount":"https://a/c","newOrder":"https://a/o","revokeCert":"https://a/r",
        "meta":{"termsOfService":"https://a/terms","externalAccountRequired":true}}
        """

    @Test func directoryIsParsed() throws {
        let directory = try ACMEDirectory(parsing: Self.bytes(Self.directory))
        #expect(directory.newNonce == "https://a/n")
        #expect(directory.newAccount == "https://a/c")
        #expect(directory.newOrder == "https://a/o")
        #expect(directory.requiresExternalAccount)
    }

    static let unusableDirectories = [
        "", "[]", "{}", "{", directory.replacing("https://a/o", with: "http://a/o"),
    ]

    @Test(arguments: unusableDirectories)
    func unusableDirectoryIsRefused(text: String) {
        #expect(throws: ACMEError.self) { try ACMEDirectory(parsing: Self.bytes(text)) }
    }

    // MARK: Orders

    private static func order(_ status: String, _ members: String = "") -> String {
        #"{"status":"\#(status)","authorizations":["https://a/1"],"finalize":"https://a/f"\#(members)}"#
    }

    @Test func orderIsParsed() throws {
        let order = try ACMEOrder(
            parsing: Self.bytes(Self.order("valid", #","certificate":"https://a/cert""#)))
        #expect(order.status == .valid)
        #expect(order.authorizations == ["https://a/1"])
        #expect(order.finalize == "https://a/f")
        #expect(order.certificate == "https://a/cert")
        let invalid = try ACMEOrder(
            parsing: Self.bytes(
                Self.order(
                    "invalid", #","error":{"type":"urn:ietf:params:acme:error:caa","detail":"no"}"#)))
        #expect(invalid.problem?.kind == "caa")
    }

    static let unusableOrders = [
        "{}", order("other"), order("valid").replacing("https://a/1", with: "ftp://a"),
        order("valid").replacing(#"["https://a/1"]"#, with: #""https://a/1""#),
    ]

    @Test(arguments: unusableOrders)
    func unusableOrderIsRefused(text: String) {
        #expect(throws: ACMEError.self) { try ACMEOrder(parsing: Self.bytes(text)) }
    }

    // MARK: Authorizations

    private static func authorization(_ challenges: String, status: String = "pending") -> String {
        """
        {"status":"\(status)","identifier":{"type":"dns","value":"Files.example"},"challenges":[\(challenges)]}
        """
    }

    private static func challenge(_ type: String, token: String = "t-1_A") -> String {
        #"{"type":"\#(type)","url":"https://a/c/\#(type)","token":"\#(token)"}"#
    }

    static let choices: [(types: [String], prefersHTTP: Bool, chosen: String?)] = [
        (["dns-01", "http-01", "tls-alpn-01"], false, "tls-alpn-01"),
        (["dns-01", "tls-alpn-01", "http-01"], true, "http-01"),
        (["tls-alpn-01"], true, "tls-alpn-01"),
        // Without a port for plain HTTP.
        (["http-01"], false, nil), (["dns-01"], true, nil), ([], true, nil),
    ]

    @Test(arguments: choices)
    func challengeIsChosen(row: (types: [String], prefersHTTP: Bool, chosen: String?)) throws {
        let text = Self.authorization(row.types.map { Self.challenge($0) }.joined(separator: ","))
        let found = try ACMEAuthorization(parsing: Self.bytes(text))
        #expect(found.domain == "files.example")
        #expect(found.challenge(prefersHTTP: row.prefersHTTP)?.kind.rawValue == row.chosen)
    }

    /// RFC 8555 §8.1: tokens consist of characters of Base64 for URLs.
    @Test(arguments: ["", "a/b", "../a", "a=", "a b", "é", String(repeating: "a", count: 257)])
    func challengeWithAnotherTokenIsIgnored(token: String) throws {
        let text = Self.authorization(Self.challenge("http-01", token: token))
        #expect(try ACMEAuthorization(parsing: Self.bytes(text)).challenges.isEmpty)
    }

    @Test func reasonOfAFailedChallengeIsFound() throws {
        let failed = #"{"type":"http-01","url":"https://a/1","token":"t","error":{"detail":"refused"}}"#
        let text = Self.authorization(Self.challenge("dns-01") + "," + failed, status: "invalid")
        #expect(try ACMEAuthorization(parsing: Self.bytes(text)).problem?.detail == "refused")
    }

    // MARK: Problems

    private static let now = Timestamp(seconds: 784_111_777)

    @Test func problemIsParsed() {
        let text = """
            {"type":"urn:ietf:params:acme:error:rateLimited","detail":"too many\\n certificates","status":429,
            "subproblems":[{"type":"urn:ietf:params:acme:error:dns","detail":"none",
            "identifier":{"type":"dns","value":"a.example"},"subproblems":[{"detail":"not read"}]}]}
            """
        let problem = ACMEProblem(
            ServiceResponse(status: 429, fields: ["retry-after": "120"], bytes: Self.bytes(text)),
            now: Self.now)
        #expect(problem.kind == "rateLimited")
        #expect(problem.retrySeconds == 120)
        #expect(
            problem.text
                == "too many requests to the ACME server: too many certificates (rateLimited, status 429); "
                + "a.example: the ACME server cannot resolve the name: none (dns)")
    }

    @Test func otherErrorHasItsStatus() {
        let problem = ACMEProblem(
            ServiceResponse(status: 502, bytes: Self.bytes("<html>")), now: Self.now)
        #expect(problem.kind == "")
        #expect(problem.text == "the ACME server refuses the request (status 502)")
    }

    /// RFC 9110 §10.2.3.
    static let retries: [(text: String, seconds: Int64?)] = [
        ("0", 0), ("120", 120), ("-5", 0), ("99999999", 604_800), ("x", nil), ("", nil),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sun, 06 Nov 1994 08:49:27 GMT", 0),
        ("Sun, 06 Nov 2044 08:49:37 GMT", 604_800),
    ]

    @Test(arguments: retries)
    func retryAfterIsParsed(text: String, seconds: Int64?) {
        #expect(ACMEProblem.seconds(in: text, now: Self.now) == seconds)
    }

    // MARK: Settings

    static let settings: [(change: @Sendable (inout ACMESettings) -> Void, problem: ACMESettings.Problem?)] =
        [
            ({ _ in }, nil),
            ({ $0.domains = [] }, .badCount),
            ({ $0.domains = .init(repeating: "a.example", count: 101) }, .badCount),
            ({ $0.domains = ["localhost"] }, .badDomain("localhost")),
            ({ $0.domains = ["*.example.org"] }, .badDomain("*.example.org")),
            ({ $0.domains = ["192.0.2.1"] }, .badDomain("192.0.2.1")),
            ({ $0.domains = ["a..b"] }, .badDomain("a..b")),
            ({ $0.domains = ["-a.b"] }, .badDomain("-a.b")),
            ({ $0.domains = ["a.example", "bücher.example"] }, .badDomain("bücher.example")),
            ({ $0.directory = "http://a/dir" }, .badDirectory("http://a/dir")),
            ({ $0.directory = "https://u@a/dir" }, .badDirectory("https://u@a/dir")),
            ({ $0.directory = "https://localhost:14000/dir" }, nil),
            ({ $0.email = "a@b.example" }, nil),
            ({ $0.email = "a@b,c@d" }, .badEmail("a@b,c@d")),
            ({ $0.email = "a" }, .badEmail("a")),
            ({ $0.email = "a@b?cc=d" }, .badEmail("a@b?cc=d")),
            ({ $0.agreesToTerms = false }, .notAgreed),
            ({ $0.externalAccount = .init(keyID: "k", key: "AAAAAAAAAAAAAAAAAAAAAA") }, nil),
            ({ $0.externalAccount = .init(keyID: "", key: "AAAAAAAAAAAAAAAAAAAAAA") }, .badExternalAccount),
            ({ $0.externalAccount = .init(keyID: "k", key: "AAAA") }, .badExternalAccount),
            ({ $0.externalAccount = .init(keyID: "k", key: "not Base64") }, .badExternalAccount),
        ]

    @Test(arguments: settings.indices)
    func unusableSettingsAreRefused(index: Int) {
        var settings = ACMESettings(domains: ["files.example.org"])
        settings.agreesToTerms = true
        Self.settings[index].change(&settings)
        #expect(settings.problem == Self.settings[index].problem)
    }
}
#endif
