#if TLS
internal import DavitCrypto
internal import DavitHTTP
internal import DavitServer
internal import DavitWebClient

/// The response of a provider to a sign-in, and the request for its tokens (RFC 6749 §4.1, RFC 7636).
enum AuthorizationCode: Hashable, Sendable {
    case code(String)
    /// The user has cancelled, or the provider refuses the user.
    case denied
    /// - Parameter reason: for the log.
    case wrong(reason: String)

    private static let codeBytes = 4096
    /// Maximum length of the response with the token.
    private static let responseBytes = 128 << 10
    /// Maximum length of an error code in the log.
    private static let errorBytes = 64

    /// Reads an answer.
    /// - Parameter isIssuerRequired: whether the answer must contain `iss` (RFC 9207 §2.4).
    init(_ answer: FormFields, issuer: String, isIssuerRequired: Bool) {
        let issuers = answer.all("iss")
        guard issuers == [issuer] || issuers.isEmpty && !isIssuerRequired else {
            self = .wrong(reason: "the answer is that of another issuer")
            return
        }
        switch (answer.all("error"), answer.all("code")) {
        // RFC 6749 §4.1.2.1, and OpenID Connect Core §3.1.2.6.
        case (let errors, _) where errors.contains { Self.denials.contains($0) }: self = .denied
        case (let errors, _) where !errors.isEmpty:
            self = .wrong(reason: "the provider reports the error \(Self.printable(errors[0]))")
        case (_, let codes) where codes.count == 1 && 1...Self.codeBytes ~= codes[0].utf8.count:
            self = .code(codes[0])
        default: self = .wrong(reason: "the answer contains no code")
        }
    }

    private static let denials: Set<String> = [
        "access_denied", "login_required", "interaction_required", "consent_required",
        "account_selection_required",
    ]

    private static func printable(_ text: String) -> String {
        String(decoding: text.utf8.prefix(errorBytes).filter(\.isUnreserved), as: UTF8.self)
    }

    // MARK: Requests

    /// Returns the URL at which a user signs in.
    /// - Throws: ``OIDCError/unavailable(_:)`` if OpenSSL fails.
    static func url(
        at endpoint: String, _ settings: OIDCSettings, _ attempt: SignInAttempt
    ) throws(OIDCError) -> String {
        let challenge: [UInt8]
        do throws(CryptoError) { challenge = try Digest.of(Array(attempt.verifier.utf8), .sha256) } catch {
            throw .unavailable("the code challenge cannot be computed")
        }
        let query = form([
            ("response_type", "code"), ("client_id", settings.clientID),
            ("redirect_uri", attempt.redirectURL), ("scope", "openid \(settings.scopes)"),
            ("state", attempt.state), ("nonce", attempt.nonce),
            ("code_challenge", Base64URL.encode(challenge)), ("code_challenge_method", "S256"),
        ])
        let sign = endpoint.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return endpoint + sign + String(decoding: query, as: UTF8.self)
    }

    /// Returns the request that exchanges a code for a token (RFC 6749 §4.1.3).
    static func exchange(
        _ code: String, at endpoint: String, _ settings: OIDCSettings, _ attempt: SignInAttempt
    ) -> OIDCRequest {
        var fields = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", attempt.redirectURL),
            ("code_verifier", attempt.verifier),
        ]
        var authorization: String?
        if let secret = settings.clientSecret {
            // §2.3.1: both are encoded as in a form first.
            let text = encoded(settings.clientID) + [UInt8(ascii: ":")] + encoded(secret)
            authorization = "Basic \(Base64.encode(text))"
        } else {
            fields.append(("client_id", settings.clientID))
        }
        return OIDCRequest(
            url: endpoint, form: form(fields), authorization: authorization, limitBytes: responseBytes)
    }

    private static func form(_ fields: [(String, String)]) -> [UInt8] {
        Array(fields.map { encoded($0.0) + [UInt8(ascii: "=")] + encoded($0.1) }.joined(separator: "&".utf8))
    }

    private static func encoded(_ text: String) -> [UInt8] {
        var encoded: [UInt8] = []
        PercentCoding.append(Array(text.utf8), to: &encoded)
        return encoded
    }

    /// Returns the ID token in the response to ``exchange(_:at:_:_:)`` (RFC 6749 §5).
    static func token(in response: OIDCResponse) throws(OIDCError) -> String {
        let object = JSONObject(parsing: response.bytes, limitBytes: responseBytes)
        switch response.status {
        case 200:
            guard let token = object?.text("id_token") else {
                throw .invalid("the provider has sent no ID token")
            }
            return token
        case 429, 500...: throw .unavailable("the provider refuses a code with status \(response.status)")
        default:
            let error = object?.text("error") ?? ""
            if error == "invalid_grant" { throw .wrongCode("the provider refuses the code") }
            throw .invalid(
                "the provider refuses a code with status \(response.status) \(printable(error))")
        }
    }
}
#endif
