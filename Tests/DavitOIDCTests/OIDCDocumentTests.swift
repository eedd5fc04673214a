#if TLS
import DavitHTTP
import DavitServer
import DavitWebClient
import Testing

@testable import DavitOIDC

/// Settings, and what a provider sends apart from tokens: metadata, keys, answers and the response with the token.
struct OIDCDocumentTests {
    // MARK: Settings

    static let issuers: [(url: String, isUsable: Bool)] = [
        ("https://login.example.org", true), ("https://login.example.org/realms/main", true),
        ("https://login.example.org:8443/", true), ("http://127.0.0.1:5556/dex", true),
        ("http://localhost:1", true), ("http://[::1]:80/a", true),
        ("http://login.example.org", false), ("http://127.0.0.1.example.org", false),
        ("http://localhost.evil", false),
        ("https://", false), ("https:///a", false), ("https://user@login.example.org", false),
        ("https://login.example.org?x", false), ("https://login.example.org#x", false),
        ("https://login example.org", false), ("https://login.example.org\\@other", false),
        ("ftp://login.example.org", false), ("file:///etc/passwd", false),
        ("HTTPS://login.example.org", false),
        ("", false), ("https://a\r\nb", false),
    ]

    @Test(arguments: issuers)
    func issuersMustBeSecureURLs(_ url: String, isUsable: Bool) {
        let problem = OIDCSettings(issuer: url, clientID: "davit").problem
        #expect(problem == (isUsable ? nil : .badIssuer(url)))
    }

    @Test func otherSettingsAreChecked() {
        func problem(_ change: (inout OIDCSettings) -> Void) -> OIDCSettings.Problem? {
            var settings = OIDCSettings(issuer: "https://a", clientID: "davit")
            change(&settings)
            return settings.problem
        }
        #expect(problem { $0.clientID = "" } == .badClient)
        #expect(problem { $0.clientID = "a\nb" } == .badClient)
        #expect(problem { $0.clientSecret = "" } == .badClient)
        #expect(problem { $0.clientSecret = "é" } == .badClient)
        #expect(problem { $0.userClaim = "" } == .badName(""))
        #expect(problem { $0.groupsClaim = "a\u{7F}" } == .badName("a\u{7F}"))
        #expect(problem { $0.name = String(repeating: "x", count: 1025) } != nil)
        #expect(problem { $0.scopes = "a\"b" } == .badScopes("a\"b"))
        #expect(problem { $0.scopes = "profile email groups" } == nil)
        #expect(problem { $0.scopes = "" } == nil)
    }

    // MARK: Metadata

    private static func metadata(_ text: String, issuer: String = "https://a/b") throws(OIDCError)
        -> OIDCMetadata
    {
        try OIDCMetadata(parsing: Array(text.utf8), issuer: issuer, allowsLoopback: false)
    }

    private static func text(
        issuer: String = "https://a/b", authorization: String = "https://a/auth",
        token: String = "https://b/token",
        keys: String = "https://c/keys", members: String = ""
    ) -> String {
        """
        {"issuer":"\(issuer)","authorization_endpoint":"\(authorization)","token_endpoint":"\(token)",
        "jwks_uri":"\(keys)"\(members)}
        """
    }

    @Test func metadataAreRead() throws {
        let found = try Self.metadata(Self.text())
        #expect(found.authorizationURL == "https://a/auth" && found.tokenURL == "https://b/token")
        #expect(found.keysURL == "https://c/keys" && !found.namesIssuer)
        let members = #","authorization_response_iss_parameter_supported":true,"other":[{}]"#
        #expect(try Self.metadata(Self.text(members: members)).namesIssuer)
        #expect(OIDCMetadata.url(of: "https://a/b") == "https://a/b/.well-known/openid-configuration")
        #expect(OIDCMetadata.url(of: "https://a/b/") == "https://a/b/.well-known/openid-configuration")
    }

    static let unusableMetadata = [
        text(issuer: "https://a/b/"), text(issuer: "https://a"), text(issuer: "https://A/b"),
        text(authorization: "http://a/auth"), text(authorization: "javascript:alert(1)"),
        text(token: "http://127.0.0.1/token"), text(token: "file:///etc/passwd"), text(token: "/token"),
        text(keys: "gopher://a"), text(keys: "https://a@b/keys"), text(keys: ""),
        text(members: #","issuer":"https://a/b""#), "{}", "[]", "", "{", text() + "x",
        text(members: #","x":"\#(String(repeating: "x", count: 128 << 10))""#),
    ]

    @Test(arguments: unusableMetadata)
    func unusableMetadataAreRefused(_ text: String) {
        #expect(throws: OIDCError.self) { try Self.metadata(text) }
    }

    // MARK: Keys

    private static func keys(_ list: String) throws -> JSONWebKeys {
        try JSONWebKeys(parsing: Array(#"{"keys":[\#(list)]}"#.utf8))
    }

    @Test func keysForOtherUsesAreIgnored() throws {
        let key = try TestKey("ES256", id: "a")
        #expect(try Self.keys(key.json()).key("a", .es256) != nil)
        for members in [
            #""use":"enc""#, #""alg":"RS256""#, #""alg":"ECDH-ES""#, #""key_ops":["sign"]"#, #""key_ops":1"#,
            #""kid":"a""#,
        ] {
            #expect(try Self.keys(key.json(members: members)).key("a", .es256) == nil, "\(members)")
        }
        #expect(try Self.keys(key.json(members: #""key_ops":["verify"]"#)).key("a", .es256) != nil)
        // Two keys with one identifier are none.
        #expect(try Self.keys("\(key.json()),\(key.json())").key("a", .es256) == nil)
    }

    static let malformedKeys = [
        "1", "null", "{}", #"{"kty":"oct","kid":"a","k":"AA"}"#, #"{"kty":"RSA","kid":"a"}"#,
        #"{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"}"#,
        #"{"kty":"EC","crv":"P-256","kid":"a","x":"AA","y":"AA"}"#,
        #"{"kty":"EC","crv":"P-384","kid":"a","x":"AA","y":"AA"}"#,
        #"{"kty":"OKP","crv":"Ed25519","kid":"a","x":"AA"}"#,
        // A point that is not on the curve.
        """
        {"kty":"EC","crv":"P-256","kid":"a","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE",\
        "y":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE"}
        """,
    ]

    @Test(arguments: malformedKeys)
    func malformedKeysAreIgnored(_ text: String) throws {
        let key = try TestKey("EdDSA", id: "b")
        let keys = try Self.keys("\(text),\(key.json())")
        #expect(keys.key("a", .rs256) == nil && keys.key("a", .es256) == nil && keys.key("a", .edDSA) == nil)
        #expect(keys.key("b", .edDSA) != nil)
    }

    @Test func keySetsAreLimited() throws {
        let key = try TestKey("EdDSA", id: "last")
        let others = Array(repeating: "{}", count: 64).joined(separator: ",")
        #expect(try Self.keys("\(others.dropLast(3)),\(key.json())").key("last", .edDSA) != nil)
        #expect(try Self.keys("\(others),\(key.json())").key("last", .edDSA) == nil)
        for text in ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#] {
            #expect(throws: OIDCError.self) { try JSONWebKeys(parsing: Array(text.utf8)) }
        }
        let long = [UInt8](repeating: 32, count: 256 << 10) + Array(#"{"keys":[]}"#.utf8)
        #expect(throws: OIDCError.self) { try JSONWebKeys(parsing: long) }
    }

    // MARK: Answers

    static let answers: [(query: String, isIssuerRequired: Bool, code: String?)] = [
        ("code=abc&state=s", false, "abc"), ("code=a%2Bb&iss=https%3A%2F%2Fa", true, "a+b"),
        ("code=abc&iss=https%3A%2F%2Fa", false, "abc"),
        // RFC 9207: the answer of another provider, or one that does not name its issuer.
        ("code=abc&iss=https%3A%2F%2Fb", false, nil), ("code=abc", true, nil),
        ("code=abc&iss=https%3A%2F%2Fa&iss=https%3A%2F%2Fa", false, nil),
        ("code=abc&code=abc", false, nil), ("code=", false, nil), ("", false, nil),
        ("code=abc&error=x", false, nil),
        ("code=\(String(repeating: "x", count: 4097))", false, nil),
    ]

    @Test(arguments: answers)
    func answersAreRead(_ query: String, isIssuerRequired: Bool, code: String?) {
        let answer = AuthorizationCode(
            FormFields(query: Array(query.utf8)), issuer: "https://a", isIssuerRequired: isIssuerRequired)
        if let code {
            #expect(answer == .code(code))
        } else if case .wrong = answer {
        } else {
            Issue.record("\(query): \(answer)")
        }
    }

    @Test func errorsAreRead() {
        func answer(_ query: String) -> AuthorizationCode {
            AuthorizationCode(
                FormFields(query: Array(query.utf8)), issuer: "https://a", isIssuerRequired: false)
        }
        #expect(answer("error=access_denied&error_description=x") == .denied)
        #expect(answer("error=login_required&code=abc") == .denied)
        // The text goes into the log.
        #expect(
            answer("error=invalid_scope%0A%3Cb%3E")
                == .wrong(reason: "the provider reports the error invalid_scopeb"))
        #expect(answer("iss=https://b&error=access_denied") != .denied)
    }

    // MARK: Requests

    private static let attempt = SignInAttempt(
        redirectURL: "https://files/r?a=b", state: "st", nonce: "no",
        verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")

    @Test func urlContainsTheChallengeAndNoSecret() throws {
        var settings = OIDCSettings(issuer: "https://a", clientID: "da vit&x")
        settings.clientSecret = "hidden"
        let url = try AuthorizationCode.url(at: "https://a/auth?x=y", settings, Self.attempt)
        // The challenge is that of RFC 7636 appendix B.
        #expect(
            url == "https://a/auth?x=y&response_type=code&client_id=da%20vit%26x&redirect_uri="
                + "https%3A%2F%2Ffiles%2Fr%3Fa%3Db&scope=openid%20profile&state=st&nonce=no&code_challenge="
                + "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256")
        settings.scopes = ""
        #expect(
            try AuthorizationCode.url(at: "https://a/auth", settings, Self.attempt)
                .hasPrefix("https://a/auth?response_type=code&"))
    }

    @Test func codesAreExchangedWithTheSecret() {
        var settings = OIDCSettings(issuer: "https://a", clientID: "a:b")
        let open = AuthorizationCode.exchange("c+d", at: "https://t", settings, Self.attempt)
        let form =
            "grant_type=authorization_code&code=c%2Bd&redirect_uri=https%3A%2F%2Ffiles%2Fr%3Fa%3Db"
            + "&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        #expect(open.url == "https://t" && open.authorization == nil)
        #expect(open.form == Array("\(form)&client_id=a%3Ab".utf8))
        settings.clientSecret = "p:w"
        let closed = AuthorizationCode.exchange("c+d", at: "https://t", settings, Self.attempt)
        #expect(closed.form == Array(form.utf8))
        #expect(closed.authorization == "Basic \(Base64.encode(Array("a%3Ab:p%3Aw".utf8)))")
    }

    @Test func tokenResponsesAreRead() throws {
        func token(_ status: Int, _ text: String) throws(OIDCError) -> String {
            try AuthorizationCode.token(in: OIDCResponse(status: status, bytes: Array(text.utf8)))
        }
        #expect(try token(200, #"{"id_token":"a.b.c","token_type":"Bearer"}"#) == "a.b.c")
        for (status, text) in [
            (200, "{}"), (200, "x"), (200, #"{"id_token":1}"#), (404, ""), (302, ""), (201, "{}"),
        ] {
            guard case .invalid = #expect(throws: OIDCError.self, performing: { try token(status, text) })
            else {
                Issue.record("\(status) \(text)")
                continue
            }
        }
        #expect(throws: OIDCError.wrongCode("the provider refuses the code")) {
            try token(400, #"{"error":"invalid_grant"}"#)
        }
        #expect(throws: OIDCError.invalid("the provider refuses a code with status 401 invalid_client")) {
            try token(401, #"{"error":"invalid_client"}"#)
        }
        for status in [429, 500, 503] {
            #expect(throws: OIDCError.unavailable("the provider refuses a code with status \(status)")) {
                try token(status, "")
            }
        }
    }

    // MARK: Users

    static let users: [(claims: String, expected: SignInVerification?)] = [
        (#""preferred_username":"anna""#, .right(name: "anna", groups: [])),
        (#""preferred_username":"anna","groups":["a","b","a"]"#, .right(name: "anna", groups: ["a", "b"])),
        (#""preferred_username":"anna","groups":[]"#, .right(name: "anna", groups: [])),
        (#""preferred_username":"anna","groups":null"#, .right(name: "anna", groups: [])),
        // Without all groups, a user could have more rights.
        (#""preferred_username":"anna","groups":"a""#, nil),
        (#""preferred_username":"anna","groups":["a",1]"#, nil),
        (#""preferred_username":"anna","groups":[""]"#, nil),
        (#""preferred_username":"anna","groups":["a\n"]"#, nil),
        (#""preferred_username":"anna","_claim_names":{"groups":"src1"}"#, nil),
        (#""name":"anna""#, nil), (#""preferred_username":1"#, nil), (#""preferred_username":["anna"]"#, nil),
    ]

    @Test(arguments: users)
    func usersAreThoseOfTheClaims(_ claims: String, expected: SignInVerification?) throws {
        let object = try #require(JSONObject(parsing: Array("{\(claims)}".utf8), limitBytes: 1000))
        let found = OIDCUser.verification(object, OIDCSettings(issuer: "https://a", clientID: "b"))
        if let expected {
            #expect(found == expected)
        } else if case .refused = found {
        } else {
            Issue.record("\(found)")
        }
    }

    @Test func groupsAreLimited() throws {
        func found(_ count: Int, bytes: Int = 4) throws -> SignInVerification {
            let names = (0..<count).map { #""\#(String(repeating: "x", count: bytes - 4))\#(1000 + $0)""# }
            let text = #"{"preferred_username":"anna","groups":[\#(names.joined(separator: ","))]}"#
            let object = try #require(JSONObject(parsing: Array(text.utf8), limitBytes: 1 << 20))
            return OIDCUser.verification(object, OIDCSettings(issuer: "https://a", clientID: "b"))
        }
        for (count, bytes, isRight) in [(1000, 4, true), (1001, 4, false), (1, 256, true), (1, 257, false)] {
            let groups: Set<String>?
            if case .right(_, let names) = try found(count, bytes: bytes) {
                groups = names
            } else {
                groups = nil
            }
            #expect(groups?.count == (isRight ? count : nil), "\(count) groups of \(bytes) bytes")
        }
    }

    @Test func addressesMustBeVerified() throws {
        var settings = OIDCSettings(issuer: "https://a", clientID: "b")
        (settings.userClaim, settings.groupsClaim) = ("email", "roles")
        for (rest, isRight) in [
            (#","email_verified":true"#, true), ("", false), (#","email_verified":false"#, false),
            (#","email_verified":"true""#, false),
        ] {
            let text = #"{"email":"anna@example.org","roles":["x"]\#(rest)}"#
            let object = try #require(JSONObject(parsing: Array(text.utf8), limitBytes: 1000))
            let found = OIDCUser.verification(object, settings)
            #expect((found == .right(name: "anna@example.org", groups: ["x"])) == isRight, "\(text)")
        }
    }
}
#endif
