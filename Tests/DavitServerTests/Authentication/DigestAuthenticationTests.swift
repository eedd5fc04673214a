#if TLS
import DavitCrypto
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// RFC 7616 from the client's point of view.
struct DigestAuthenticationTests {
    static func makeGate(
        realm: String = "http-auth@example.org", schemes: [AuthenticationSettings.Scheme]? = nil
    ) throws -> AuthenticationFixture {
        var settings = AuthenticationSettings()
        settings.realm = realm
        if let schemes { settings.schemes = schemes }
        var accounts = Accounts(settings)
        try accounts.add(name: "Mufasa", password: "Circle of Life")
        try accounts.add(name: "Jäsøn Doe", password: "Secret, or not?")
        return try AuthenticationFixture(accounts)
    }

    /// A client's response to a challenge.
    struct Client {
        var user = "Mufasa"
        var password = "Circle of Life"
        var realm = "http-auth@example.org"
        var algorithm = DigestSecret.Algorithm.sha256
        var nonce: String
        var opaque: String?
        var method = "GET"
        var uri = "/f"
        var count = "00000001"
        var clientNonce = "0a4f113b"
        /// Parameters to replace, or to remove if nil.
        var changes: [String: String?] = [:]
        var separator = ", "

        init(_ challenge: String, algorithm: DigestSecret.Algorithm = .sha256) throws {
            nonce = try #require(DigestAuthenticationTests.parameter("nonce", of: challenge))
            opaque = DigestAuthenticationTests.parameter("opaque", of: challenge)
            self.algorithm = algorithm
        }

        func answer(method: String) -> DigestSecret.Answer {
            .init(
                method: Array(method.utf8), uri: Array(uri.utf8), nonce: Array(nonce.utf8),
                count: Array(count.utf8), clientNonce: Array(clientNonce.utf8))
        }

        var secret: DigestSecret {
            get throws {
                try DigestSecret(
                    user: Array(user.utf8), realm: Array(realm.utf8), password: Array(password.utf8),
                    algorithm: algorithm)
            }
        }

        var field: String {
            get throws {
                let response = try secret.response(to: answer(method: method))
                var parameters: [(String, String?)] = [
                    ("username", "\"\(user)\""), ("realm", "\"\(realm)\""), ("uri", "\"\(uri)\""),
                    ("algorithm", algorithm.name), ("nonce", "\"\(nonce)\""), ("nc", count),
                    ("cnonce", "\"\(clientNonce)\""), ("qop", "auth"),
                    ("response", "\"\(String(decoding: response, as: UTF8.self))\""),
                    ("opaque", opaque.map { "\"\($0)\"" }),
                ]
                for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
                    parameters.removeAll { $0.0 == name }
                    parameters.append((name, value))
                }
                let texts = parameters.compactMap { name, value in value.map { "\(name)=\($0)" } }
                return "Authorization: Digest " + texts.joined(separator: separator)
            }
        }
    }

    static func parameter(_ name: String, of text: String) -> String? {
        guard let space = text.utf8.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let value = AuthParameters(parsing: Array(text.utf8[space...]).span, from: 0)?[name]
        return value.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Requests a challenge and returns a client that responds to it.
    static func begin(_ gate: AuthenticationFixture, _ algorithm: DigestSecret.Algorithm = .sha256)
        async throws -> Client
    {
        let challenges = try await gate.send([]).fields.challenges
        let own = challenges.first { parameter("algorithm", of: $0) == algorithm.name }
        return try Client(try #require(own), algorithm: algorithm)
    }

    // §3.3, §3.7: the strongest algorithm comes first.
    @Test func everyAlgorithmIsOffered() async throws {
        let challenges = try await Self.makeGate().send([]).fields.challenges
        #expect(challenges.count == 3)
        #expect(challenges.prefix(2).map { Self.parameter("algorithm", of: $0) } == ["SHA-256", "MD5"])
        for challenge in challenges.prefix(2) {
            #expect(challenge.hasPrefix("Digest "))
            #expect(Self.parameter("realm", of: challenge) == "http-auth@example.org")
            #expect(Self.parameter("qop", of: challenge) == "auth")
            #expect(Self.parameter("charset", of: challenge) == "UTF-8")
            #expect(Self.parameter("stale", of: challenge) == nil)
            #expect((Self.parameter("opaque", of: challenge) ?? "").utf8.count >= 8)
        }
        #expect(challenges[2].hasPrefix("Basic "))
        // §5.12: each challenge has a new nonce.
        let gate = try Self.makeGate()
        let first = try await Self.begin(gate).nonce
        #expect(try await Self.begin(gate).nonce != first)
    }

    static let orders: [[AuthenticationSettings.Scheme]] = [
        [.basic], [.digestMD5], [.basic, .digestSHA256], [.digestSHA256, .digestMD5],
    ]

    @Test(arguments: orders)
    func configuredSchemesAreOfferedInOrder(schemes: [AuthenticationSettings.Scheme]) async throws {
        var settings = AuthenticationSettings()
        settings.schemes = schemes
        var accounts = Accounts(settings)
        // If only Basic is enabled, a hash of low cost avoids the slow hashing of the password.
        if schemes == [.basic] {
            try accounts.add(name: "anna", hash: AccountsTests.scrypt)
        } else {
            try accounts.add(name: "anna", password: "x")
        }
        let challenges = try await AuthenticationFixture(accounts).send([]).fields.challenges
        let names = challenges.map {
            $0.hasPrefix("Basic") ? "basic" : Self.parameter("algorithm", of: $0)?.lowercased()
        }
        #expect(names == schemes.map { $0 == .basic ? "basic" : $0 == .digestMD5 ? "md5" : "sha-256" })
    }

    @Test(arguments: DigestSecret.Algorithm.allCases)
    func correctResponseIsAccepted(algorithm: DigestSecret.Algorithm) async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate, algorithm)
        for count in 1...3 {
            client.count = "0000000\(count)"
            let response = try await gate.send([client.field])
            #expect(response.status == .noContent)
            #expect(response.fields.first(.etag) == "Mufasa")
            // §3.5: the server proves that it also knows the password.
            let info = try #require(response.fields.first(named: "Authentication-Info"))
            let proof = try client.secret.response(to: client.answer(method: ""))
            #expect(Self.parameter("rspauth", of: " " + info) == String(decoding: proof, as: UTF8.self))
            #expect(Self.parameter("nc", of: " " + info) == client.count)
            #expect(Self.parameter("cnonce", of: " " + info) == client.clientNonce)
            #expect(Self.parameter("qop", of: " " + info) == "auth")
            #expect(Self.parameter("nextnonce", of: " " + info) == nil)
        }
        client.password = "circle of life"
        #expect(try await gate.send([client.field]).status == .unauthorized)
    }

    /// Variations in how clients format the parameters.
    static let spellings: [[String: String?]] = [
        ["qop": "\"auth\""], ["nc": "\"00000001\""], ["algorithm": "\"SHA-256\""], ["algorithm": "sha-256"],
        ["opaque": nil], ["charset": "UTF-8"], ["userhash": "false"], ["unknown": "x"],
        ["USERNAME": "\"Mufasa\"", "username": nil], ["realm": "\"http-auth\\@example.org\""],
    ]

    @Test(arguments: spellings, [", ", ",", " ,\t", ",,"])
    func formattingVariationsAreAccepted(changes: [String: String?], separator: String) async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate)
        client.changes = changes
        client.separator = separator
        #expect(try await gate.send([client.field]).status == .noContent)
    }

    @Test func missingAlgorithmMeansMD5() async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate, .md5)
        client.changes = ["algorithm": nil]
        #expect(try await gate.send([client.field]).status == .noContent)
    }

    /// Changes of the Digest response that get status 401 and new challenges, and never count as failures.
    static let refused: [[String: String?]] = [
        ["username": nil], ["realm": nil], ["nonce": nil], ["uri": nil], ["response": nil], ["cnonce": nil],
        ["nc": nil], ["qop": nil],
        // §3.4: auth-int would require the entire content in advance.
        ["qop": "auth-int"], ["qop": "\"auth,auth-int\""], ["qop": "AUTH"],
        // §3.4.2 and §6.1: algorithms that are not offered.
        ["algorithm": "SHA-512-256"], ["algorithm": "SHA-256-sess"], ["algorithm": "MD5-sess"],
        ["algorithm": "\"\""],
        ["realm": "\"elsewhere\""], ["realm": "\"\""],
        // §3.4: the count has eight digits and starts at one.
        ["nc": "00000000"], ["nc": "1"], ["nc": "000000001"], ["nc": "0000000g"], ["nc": "-0000001"],
        ["cnonce": "\"\""], ["cnonce": "\"a\\\"b\""], ["cnonce": "\"a b\""],
        ["cnonce": "\"\(String(repeating: "c", count: 257))\""],
        // §3.4.4: user names.
        ["userhash": "maybe"], ["username*": "UTF-8''Mufasa"],
        ["userhash": "true", "username": nil, "username*": "UTF-8''x"],
        ["username": nil, "username*": "ISO-8859-1''Mufasa"], ["username": nil, "username*": "UTF-8''%F"],
        ["username": nil, "username*": "UTF-8''%FF"], ["username": nil, "username*": "Mufasa"],
        // RFC 9110 §11.2: malformed or repeated parameters.
        ["extra": "\"open"], ["extra": ""], ["extra": "a b"], ["NC": "00000001"], ["": "x"],
    ]

    @Test(arguments: refused)
    func malformedFieldsAreRefused(changes: [String: String?]) async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate)
        client.changes = changes
        for _ in 0..<10 {
            let response = try await gate.send([client.field])
            #expect(response.status == .unauthorized)
            #expect(response.fields.challenges.count == 3)
            #expect(!response.fields.challenges[0].contains("stale"))
        }
    }

    @Test func truncatedFieldIsRefused() async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate)
        // Without opaque, no optional parameter can be truncated unnoticed.
        client.opaque = nil
        let field = try client.field
        for length in ("Authorization:".utf8.count)..<field.utf8.count {
            let response = try await gate.send(
                [String(field.prefix(length))], from: "192.0.2.\(length % 256)")
            #expect(response.status != .noContent, "\(length)")
        }
        #expect(try await gate.send([field], from: "198.51.100.1").status == .noContent)
    }

    // MARK: §3.4.6, the target

    static let targets: [(line: String, uri: String, status: HTTPStatus)] = [
        ("/f", "/f", .noContent), ("/f?a=b", "/f?a=b", .noContent), ("/a%20b", "/a%20b", .noContent),
        ("http://a/f", "http://a/f", .noContent), ("http://a/f", "/f", .noContent),
        ("/f", "http://a/f", .noContent),
        ("/f", "http://A/f", .noContent), ("http://a", "/", .noContent),
        ("/f", "/g", .badRequest), ("/f", "/F", .badRequest), ("/f", "/f/", .badRequest),
        ("/f", "/f?", .badRequest),
        ("/f?a=b", "/f", .badRequest), ("/f", "/f?a=b", .badRequest), ("/a%20b", "/a%2520b", .badRequest),
        ("/f", "http://b/f", .badRequest), ("http://b/f", "http://a/f", .badRequest),
        ("/f", "*", .badRequest),
        ("/f", "f", .badRequest), ("/f", "", .badRequest), ("/f", "/f HTTP/1.1", .badRequest),
    ]

    @Test(arguments: targets)
    func responseIsValidOnlyForItsTarget(line: String, uri: String, status: HTTPStatus) async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate)
        client.uri = uri
        #expect(try await gate.send([client.field], target: line).status == status)
    }

    @Test func responseIsValidForAnAsteriskTarget() async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate)
        client.method = "OPTIONS"
        client.uri = "*"
        #expect(try await gate.send([client.field], method: "OPTIONS", target: "*").status == .noContent)
    }

    /// A prefix removed by a proxy is part of the signed URI.
    @Test(arguments: [
        ("/x/f", HTTPStatus.noContent), ("/f", .noContent), ("http://a/x/f", .noContent),
        ("/y/f", .badRequest),
        ("/x/g", .badRequest), ("/x/x/f", .badRequest),
    ])
    func responseIsForTheTargetThatTheProxyReceived(uri: String, status: HTTPStatus) async throws {
        let gate = try Self.makeGate()
        let prefix = try #require(PathPrefix("/x"))
        let handler = gate.handler.applying(
            PublicPrefix(hosts: [.init(name: Array("a".utf8), prefix: prefix)]))
        var client = try await Self.begin(gate)
        client.uri = uri
        let request = try makeRequest("GET /f HTTP/1.1", "Host: a", try client.field)
        #expect(try await handler.respond(to: request).response().status == status)
    }

    /// The client signs the target before middleware rewrites it.
    @Test func responseIsVerifiedForTheTargetBeforeARewrite() async throws {
        let gate = try Self.makeGate()
        let rewriting = BeforeHandling { request throws(HTTPError) in
            try request.rewriteTarget(to: "/elsewhere")
            return nil
        }
        let handler = gate.handler.applying(rewriting)
        let client = try await Self.begin(gate)
        let request = try makeRequest("GET /f HTTP/1.1", "Host: a", try client.field)
        #expect(try await handler.respond(to: request).response().status == .noContent)
    }

    @Test func responseIsValidOnlyForItsMethod() async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate)
        #expect(try await gate.send([client.field], method: "DELETE").status == .unauthorized)
        client.method = "BREW"
        #expect(try await gate.send([client.field], method: "BREW").status == .noContent)
    }

    // MARK: §3.3 and §3.4, nonces and counts

    func isStale(_ response: HTTPResponse) -> Bool {
        response.status == .unauthorized
            && response.fields.challenges.prefix(2).allSatisfy {
                DigestAuthenticationTests.parameter("stale", of: $0) == "true"
            }
    }

    @Test func responseCannotBeReplayed() async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate)
        let field = try client.field
        #expect(try await gate.send([field]).status == .noContent)
        for _ in 0..<10 { #expect(isStale(try await gate.send([field]))) }
        // A replay with another method is refused, too.
        #expect(try await gate.send([field], method: "DELETE", from: "198.51.100.9").status == .unauthorized)
        // The client can continue with the next count.
        client.count = "00000002"
        #expect(try await gate.send([client.field]).status == .noContent)
    }

    @Test func countsMayArriveOutOfOrder() async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate)
        for count in ["00000003", "00000001", "00000080", "0000000A", "0000000b", "00000002"] {
            client.count = count
            #expect(try await gate.send([client.field]).status == .noContent, "\(count)")
        }
    }

    @Test func nonceExpires() async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate)
        gate.clock.advance(seconds: 140)
        #expect(
            try await gate.send([client.field]).fields.first(named: "Authentication-Info")?.contains(
                "nextnonce") == false)
        gate.clock.advance(seconds: 159)
        client.count = "00000002"
        let info = try #require(
            try await gate.send([client.field]).fields.first(named: "Authentication-Info"))
        let next = try #require(Self.parameter("nextnonce", of: " " + info))
        gate.clock.advance(seconds: 1)
        client.count = "00000003"
        let response = try await gate.send([client.field])
        #expect(isStale(response))
        // A client with a wrong password must not learn that the nonce was stale.
        client.password = "wrong"
        #expect(!isStale(try await gate.send([client.field])))
        client.password = "Circle of Life"
        // §3.5: the next nonce starts at count one.
        client.nonce = next
        client.count = "00000001"
        #expect(try await gate.send([client.field]).status == .noContent)
        client.nonce = try #require(Self.parameter("nonce", of: response.fields.challenges[0]))
        #expect(try await gate.send([client.field]).status == .noContent)
    }

    /// Nonces of another server or of a previous run, and forged nonces, are stale.
    @Test func unknownNoncesAreStale() async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate)
        let good = client.nonce
        let others = [
            try await Self.begin(Self.makeGate()).nonce, "", "x", String(good.dropLast()), good + "00",
            String(good.reversed()), String(repeating: "0", count: good.count),
            (good.first == "0" ? "1" : "0") + good.dropFirst(),
            good.dropLast() + (good.last == "0" ? "1" : "0"),
        ]
        for nonce in others {
            client.nonce = nonce
            #expect(isStale(try await gate.send([client.field])), "\(nonce)")
        }
        client.nonce = good
        client.opaque = "other"
        #expect(isStale(try await gate.send([client.field])))
    }

    @Test func nonceIsValidForOneUser() async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate)
        #expect(try await gate.send([client.field]).status == .noContent)
        client.user = "Jäsøn Doe"
        client.password = "Secret, or not?"
        client.count = "00000002"
        #expect(isStale(try await gate.send([client.field])))
    }

    // MARK: §3.4.4, names

    @Test func userNameCanBeHashed() async throws {
        let gate = try Self.makeGate()
        for (algorithm, digest) in [(DigestSecret.Algorithm.sha256, Digest.Algorithm.sha256), (.md5, .md5)] {
            var client = try await Self.begin(gate, algorithm)
            let name = try Digest.of(Array("Mufasa:http-auth@example.org".utf8), digest)
            let digits = String(decoding: HexText.encode(name), as: UTF8.self)
            client.changes = ["userhash": "true", "username": "\"\(digits)\""]
            let response = try await gate.send([client.field])
            #expect(response.fields.first(.etag) == "Mufasa")
            client.count = "00000002"
            client.changes = ["userhash": "true", "username": "\"Mufasa\""]
            #expect(try await gate.send([client.field]).status == .unauthorized)
            client.changes = ["username": "\"\(digits)\""]
            #expect(try await gate.send([client.field]).status == .unauthorized)
        }
    }

    @Test func userNameCanUseTheExtendedNotation() async throws {
        let gate = try Self.makeGate()
        var client = try await Self.begin(gate)
        client.user = "Jäsøn Doe"
        client.password = "Secret, or not?"
        #expect(try await gate.send([client.field]).status == .noContent)
        client.count = "00000002"
        client.changes = ["username": nil, "username*": "UTF-8''J%C3%A4s%C3%B8n%20Doe"]
        #expect(try await gate.send([client.field]).fields.first(.etag) == "Jäsøn Doe")
    }

    /// An unknown name must not have a predictable secret, a vulnerability that other servers have had.
    @Test func unknownUserIsNeverAccepted() async throws {
        let gate = try Self.makeGate()
        for (user, password) in [
            ("nobody", ""), ("nobody", "Circle of Life"), ("nobody", "Secret, or not?"), ("", ""),
            ("mufasa", "Circle of Life"),
        ] {
            var client = try await Self.begin(gate)
            client.user = user
            client.password = password
            let response = try await gate.send([client.field], from: "198.51.100.\(user.utf8.count)")
            #expect(response.status == .unauthorized)
            #expect(!isStale(response))
        }
    }

    /// For an unknown name, the server checks the secret of another account, so that the check costs the same.
    /// A match must not be accepted.
    @Test func secretOfAnotherAccountIsRefused() async throws {
        let gate = try Self.makeGate()
        for user in ["Mufasa", "Jäsøn Doe"] {
            var client = try await Self.begin(gate)
            client.user = user
            client.password = user == "Mufasa" ? "Circle of Life" : "Secret, or not?"
            client.changes = ["username": "\"nobody\""]
            #expect(try await gate.send([client.field], from: "198.51.100.1").status == .unauthorized)
        }
    }

    // MARK: The RFC's own examples

    static let examples: [(algorithm: DigestSecret.Algorithm, response: String)] = [
        (.md5, "8ca523f5e9506fed4657c9700eebdbec"),
        (.sha256, "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ]

    /// §3.9.1. The response is correct except that this server did not create the nonce.
    @Test(arguments: examples)
    func rfcExampleIsStaleOnlyForItsNonce(algorithm: DigestSecret.Algorithm, response: String) async throws {
        let lines = """
            Authorization: Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", \
            algorithm=\(algorithm.name), nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", nc=00000001, \
            cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", qop=auth, response="\(response)", \
            opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
            """
        let gate = try Self.makeGate()
        #expect(isStale(try await gate.send([lines], target: "/dir/index.html")))
        let wrong = lines.replacing(response, with: String(response.reversed()))
        let refusal = try await gate.send([wrong], target: "/dir/index.html")
        #expect(refusal.status == .unauthorized && !isStale(refusal))
    }

    /// §3.9.2: SHA-512-256 is not offered.
    @Test func rfcExampleWithAnotherAlgorithmIsRefused() async throws {
        let line = """
            Authorization: Digest username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b", \
            realm="api@example.org", uri="/doe.json", algorithm=SHA-512-256, \
            nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", nc=00000001, \
            cnonce="NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm", qop=auth, \
            response="ae66e67d6b427bd3f120414a82e4acff38e8ecd9101d6c861229025f607a79dd", \
            opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", userhash=true
            """
        let refusal = try await Self.makeGate(realm: "api@example.org").send([line], target: "/doe.json")
        #expect(refusal.status == .unauthorized && !isStale(refusal))
    }

    /// A request with a pending response is checked once, before its work runs, and uses its nonce count
    /// once.
    @Test func pendingRequestUsesItsNonceCountOnce() async throws {
        let gate = try Self.makeGate()
        let handler = Greeter(waits: true).applying(gate.authentication)
        var client = try await Self.begin(gate)
        let request = try makeRequest("GET /f HTTP/1.1", "Host: a", try client.field)
        let reply = try handler.respond(to: request)
        #expect(reply.readyResponse == nil)
        // The count is already used before the work runs.
        let copy = try makeRequest("GET /f HTTP/1.1", "Host: a", try client.field)
        #expect(try handler.respond(to: copy).readyResponse?.status == .unauthorized)
        let response = try await reply.response()
        #expect(response.status == .noContent)
        #expect(response.fields.first(named: "Authentication-Info")?.contains("rspauth") == true)
        // Another request with the same response is a replay.
        let again = try makeRequest("GET /f HTTP/1.1", "Host: a", try client.field)
        #expect(try await handler.respond(to: again).response().status == .unauthorized)
        client.count = "00000002"
        // The request object is reused for the next request of the connection.
        let head = Array("GET /f HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        var parser = HeadParser()
        _ = try unsafe head.withUnsafeBytes { try unsafe parser.parse($0, into: request) }
        #expect(try await handler.respond(to: request).response().status == .unauthorized)
    }

    /// The client of an old nonce may only know a password that has been revoked, so it waits like others.
    @Test func oldNoncesDoNotEscapeTheDelay() async throws {
        let gate = try Self.makeGate()
        var old = try await Self.begin(gate)
        #expect(try await gate.send([old.field]).status == .noContent)
        gate.clock.advance(seconds: 301)
        var fresh = try await Self.begin(gate)
        #expect(try await gate.send([fresh.field]).status == .noContent)
        for guess in 0..<6 { _ = try await gate.basic("Mufasa:\(guess)") }
        old.count = "00000002"
        fresh.count = "00000002"
        #expect(try await gate.send([old.field]).status == .tooManyRequests)
        #expect(try await gate.send([fresh.field]).status == .noContent)
    }
}
#endif
