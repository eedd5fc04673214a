#if TLS
import DavitHTTP
import DavitSQLite
import DavitWebClient
import Testing

@testable import DavitOIDC

/// ID tokens: real signatures of each algorithm, and everything for which a token is refused.
struct IDTokenTests {
    private static let now: Int64 = 1_800_000_000
    private static let expected = IDToken.Expectation(
        issuer: "https://login.example.org", clientID: "davit", nonce: "n-1", now: now)

    /// Returns claims that are valid, with some of them replaced. Nil removes a claim.
    static func claims(_ changes: [String: String?] = [:]) -> String {
        var members: [String: String?] = [
            "iss": #""https://login.example.org""#, "aud": #""davit""#, "sub": #""1""#, "nonce": #""n-1""#,
            "exp": "\(now + 300)", "iat": "\(now)", "preferred_username": #""anna""#,
        ]
        members.merge(changes) { $1 }
        return "{"
            + members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }.joined(separator: ",")
            + "}"
    }

    private static func verified(_ token: String, _ keys: [String]) throws(IDToken.Problem) -> JSONObject {
        let set = try? JSONWebKeys(parsing: Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
        guard let set else { throw .malformed }
        return try IDToken(parsing: token).verified(with: set, expected)
    }

    @Test(arguments: ["RS256", "ES256", "EdDSA"])
    func signaturesOfEachAlgorithmAreVerified(_ algorithm: String) throws {
        let (key, other) = (try TestKey(algorithm, id: "a"), try TestKey(algorithm, id: "a"))
        let token = try key.token(Self.claims())
        #expect(try Self.verified(token, [key.json()]).text("preferred_username") == "anna")
        #expect(try Self.verified(token, [other.json(id: "b"), key.json()]).text("sub") == "1")
        // A key for this algorithm only.
        #expect(throws: Never.self) {
            try Self.verified(token, [key.json(members: #""use":"sig","alg":"\#(algorithm)""#)])
        }
        // Another key with the same identifier.
        #expect(throws: IDToken.Problem.signature) { try Self.verified(token, [other.json()]) }
        // Other content, or another signature.
        let parts = token.split(separator: ".").map(String.init)
        let content = Base64URL.encode(Array(Self.claims(["sub": #""2""#]).utf8))
        #expect(throws: IDToken.Problem.signature) {
            try Self.verified("\(parts[0]).\(content).\(parts[2])", [key.json()])
        }
        var signature = try #require(Base64URL.decode(parts[2].utf8))
        signature[10] ^= 1
        #expect(throws: IDToken.Problem.signature) {
            try Self.verified("\(parts[0]).\(parts[1]).\(Base64URL.encode(signature))", [key.json()])
        }
        for count in [0, 1, signature.count - 1] {
            #expect(throws: IDToken.Problem.signature) {
                try Self.verified(
                    "\(parts[0]).\(parts[1]).\(Base64URL.encode(Array(signature.prefix(count))))",
                    [key.json()])
            }
        }
    }

    static let wrongClaims: [(changes: [String: String?], claim: String)] = [
        (["iss": #""https://other.example.org""#], "iss"), (["iss": #""https://login.example.org/""#], "iss"),
        (["iss": nil], "iss"), (["iss": "1"], "iss"),
        (["aud": #""other""#], "aud"), (["aud": #"["other","x"]"#], "aud"), (["aud": nil], "aud"),
        (["aud": "[]"], "aud"), (["aud": #"["davit",1]"#], "aud"), (["aud": #""davit2""#], "aud"),
        // OpenID Connect Core §3.1.3.7: issued to another client.
        (["azp": #""other""#], "azp"), (["aud": #"["davit","other"]"#], "azp"),
        (["aud": #"["davit","other"]"#, "azp": #""other""#], "azp"), (["azp": "null"], "azp"),
        (["nonce": #""n-2""#], "nonce"), (["nonce": nil], "nonce"), (["nonce": #""""#], "nonce"),
        (["sub": nil], "sub"), (["sub": #""""#], "sub"),
        (["exp": "\(now - 60)"], "exp"), (["exp": nil], "exp"), (["exp": #""\#(now + 300)""#], "exp"),
        (["exp": "1e400"], "exp"), (["exp": "null"], "exp"),
        (["iat": "\(now + 61)"], "iat"), (["iat": nil], "iat"),
        (["nbf": "\(now + 61)"], "nbf"), (["nbf": #""x""#], "nbf"),
    ]

    @Test(arguments: wrongClaims)
    func wrongClaimsAreRefused(_ changes: [String: String?], claim: String) throws {
        let key = try TestKey("ES256", id: "a")
        let token = try key.token(Self.claims(changes))
        #expect(throws: IDToken.Problem.claim(claim)) { try Self.verified(token, [key.json()]) }
    }

    @Test(arguments: [
        ["exp": "\(now - 59)"], ["iat": "\(now + 60)"], ["nbf": "\(now + 60)"], ["nbf": "\(now - 5)"],
        ["exp": "\(now).5"], ["aud": #"["davit"]"#], ["azp": #""davit""#],
        ["aud": #"["other","davit"]"#, "azp": #""davit""#],
    ])
    func claimsWithinTheLimitsAreAccepted(_ changes: [String: String]) throws {
        let key = try TestKey("ES256", id: "a")
        let token = try key.token(Self.claims(changes.mapValues { Optional($0) }))
        #expect(throws: Never.self) { try Self.verified(token, [key.json()]) }
    }

    static let headers: [(header: String, problem: IDToken.Problem)] = [
        (#"{"alg":"none"}"#, .algorithm), (#"{"alg":"None","kid":"a"}"#, .algorithm),
        (#"{"alg":"HS256","kid":"a"}"#, .algorithm), (#"{"alg":"RS512","kid":"a"}"#, .algorithm),
        (#"{"alg":"PS256","kid":"a"}"#, .algorithm), (#"{"alg":"es256","kid":"a"}"#, .algorithm),
        (#"{"kid":"a"}"#, .algorithm), (#"{"alg":["ES256"],"kid":"a"}"#, .algorithm),
        // The key exists, but for another algorithm.
        (#"{"alg":"RS256","kid":"a"}"#, .unknownKey), (#"{"alg":"EdDSA","kid":"a"}"#, .unknownKey),
        (#"{"alg":"ES256","kid":"b"}"#, .unknownKey),
        (#"{"alg":"ES256","kid":1}"#, .malformed), (#"{"alg":"ES256","kid":"a","crit":["exp"]}"#, .malformed),
        (#"{"alg":"ES256","kid":"a","b64":false}"#, .malformed),
        // Other kinds of tokens (RFC 8725 §3.11).
        (#"{"alg":"ES256","kid":"a","typ":"at+jwt"}"#, .malformed),
        (#"{"alg":"ES256","kid":"a","typ":"logout+jwt"}"#, .malformed),
        (#"{"alg":"ES256","alg":"ES256","kid":"a"}"#, .malformed), ("[]", .malformed), ("", .malformed),
        (#"{"alg":"ES256","kid":"a\u0000b"}"#, .malformed),
        (#"{"alg":"ES256","kid":"a","x":"\#(String(repeating: "x", count: 5000))"}"#, .malformed),
    ]

    @Test(arguments: headers)
    func otherHeadersAreRefused(_ header: String, problem: IDToken.Problem) throws {
        let key = try TestKey("ES256", id: "a")
        let token = try key.token(Self.claims(), header: header)
        #expect(throws: problem) { try Self.verified(token, [key.json()]) }
    }

    @Test func keysCanHaveNoIdentifier() throws {
        let (key, other) = (try TestKey("ES256", id: "a"), try TestKey("ES256", id: "b"))
        let rsa = try TestKey("RS256", id: "c")
        let token = try key.token(Self.claims(), header: #"{"alg":"ES256"}"#)
        #expect(throws: Never.self) { try Self.verified(token, [rsa.json(), key.json()]) }
        // OpenID Connect Core §10.1: it is not known which of them is meant.
        #expect(throws: IDToken.Problem.unknownKey) { try Self.verified(token, [key.json(), other.json()]) }
    }

    /// HS256 with the text of the public key as the secret, which servers that do not check the algorithm accept.
    @Test func publicKeysAreNotSecrets() throws {
        let key = try TestKey("RS256", id: "a")
        let token = try key.token(Self.claims(), header: #"{"alg":"HS256","kid":"a"}"#)
        #expect(throws: IDToken.Problem.algorithm) { try Self.verified(token, [key.json()]) }
    }

    @Test func malformedTokensAreRefused() throws {
        let key = try TestKey("EdDSA", id: "a")
        let token = try key.token(Self.claims())
        for count in 0..<token.utf8.count {
            #expect(throws: IDToken.Problem.self) {
                try Self.verified(String(token.prefix(count)), [key.json()])
            }
        }
        for text in [
            "\(token).", ".\(token)", "\(token)=", " \(token)", "\(token)\n", "..", "a.b.c", "é.é.é",
        ] {
            #expect(throws: IDToken.Problem.malformed) { try Self.verified(text, [key.json()]) }
        }
        let long = String(repeating: "x", count: 64 << 10)
        #expect(throws: IDToken.Problem.tooLong) {
            try Self.verified(try key.token(Self.claims(["x": "\"\(long)\""])), [key.json()])
        }
        // A name that SQLite would shorten to that of another user.
        #expect(throws: IDToken.Problem.malformed) {
            try Self.verified(
                try key.token(Self.claims(["preferred_username": #""anna\u0000b""#])), [key.json()])
        }
    }
}
#endif
