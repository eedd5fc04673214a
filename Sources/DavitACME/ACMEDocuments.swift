#if TLS
internal import DavitSQLite
internal import DavitWebClient

/// The directory of an ACME server (RFC 8555 §7.1.1).
struct ACMEDirectory: Hashable, Sendable {
    static let limitBytes = 64 << 10

    let newNonce: String
    let newAccount: String
    let newOrder: String
    let requiresExternalAccount: Bool

    /// - Throws: ``ACMEError/invalid(_:)`` if the document is malformed.
    init(parsing bytes: [UInt8]) throws(ACMEError) {
        guard let object = JSONObject(parsing: bytes, limitBytes: Self.limitBytes) else {
            throw .invalid("the directory of the ACME server is malformed")
        }
        func url(_ name: String) throws(ACMEError) -> String {
            guard let url = object.text(name), ACMEURL.isUsable(url) else {
                throw .invalid("the directory of the ACME server has no usable \(name)")
            }
            return url
        }
        newNonce = try url("newNonce")
        newAccount = try url("newAccount")
        newOrder = try url("newOrder")
        let meta = object["meta"].flatMap { JSONObject($0) }
        requiresExternalAccount = meta?["externalAccountRequired"] == true
    }
}

/// An order (RFC 8555 §7.1.3).
struct ACMEOrder: Hashable, Sendable {
    static let limitBytes = 256 << 10
    /// Maximum number of authorizations; one for each domain.
    private static let limit = 200

    /// The states of RFC 8555 §7.1.6.
    enum Status: String, Sendable { case pending, ready, processing, valid, invalid }

    let status: Status
    let authorizations: [String]
    let finalize: String
    /// Where the certificate is, if the order is valid.
    let certificate: String?
    /// Why the order is invalid.
    let problem: ACMEProblem?

    /// - Throws: ``ACMEError/invalid(_:)`` if the document is malformed.
    init(parsing bytes: [UInt8]) throws(ACMEError) {
        guard let object = JSONObject(parsing: bytes, limitBytes: Self.limitBytes),
            let status = object.text("status").flatMap(Status.init(rawValue:)),
            let authorizations = object.texts("authorizations"), authorizations.count <= Self.limit,
            authorizations.allSatisfy({ ACMEURL.isUsable($0) }),
            let finalize = object.text("finalize"), ACMEURL.isUsable(finalize)
        else { throw .invalid("an order of the ACME server is malformed") }
        self.status = status
        self.authorizations = authorizations
        self.finalize = finalize
        certificate = object.text("certificate").flatMap { ACMEURL.isUsable($0) ? $0 : nil }
        problem = object["error"].flatMap { JSONObject($0) }.map { ACMEProblem($0) }
    }
}

/// An authorization (RFC 8555 §7.1.4), and the challenges in it that a server can answer.
struct ACMEAuthorization: Hashable, Sendable {
    /// The states of RFC 8555 §7.1.6.
    enum Status: String, Sendable { case pending, valid, invalid, deactivated, expired, revoked }

    let status: Status
    let domain: String
    let challenges: [ACMEChallenge]
    /// Why a challenge has failed.
    let problem: ACMEProblem?

    /// - Throws: ``ACMEError/invalid(_:)`` if the document is malformed.
    init(parsing bytes: [UInt8]) throws(ACMEError) {
        guard let object = JSONObject(parsing: bytes, limitBytes: ACMEOrder.limitBytes),
            let status = object.text("status").flatMap(Status.init(rawValue:)),
            let identifier = object["identifier"].flatMap({ JSONObject($0) }),
            identifier.text("type") == "dns", let domain = identifier.text("value"),
            let list = object["challenges"]?.elements
        else { throw .invalid("an authorization of the ACME server is malformed") }
        let objects = list.compactMap { JSONObject($0) }
        self.status = status
        self.domain = domain.lowercased()
        challenges = objects.compactMap { ACMEChallenge($0) }
        problem = objects.lazy.compactMap { $0["error"].flatMap { JSONObject($0) } }.first.map {
            ACMEProblem($0)
        }
    }

    /// Returns the challenge to answer; nil if there is none.
    func challenge(prefersHTTP: Bool) -> ACMEChallenge? {
        let order: [ACMEChallenge.Kind] = prefersHTTP ? [.http, .tls] : [.tls]
        return order.lazy.compactMap { kind in challenges.first { $0.kind == kind } }.first
    }
}

/// A challenge (RFC 8555 §8).
struct ACMEChallenge: Hashable, Sendable {
    enum Kind: String, Sendable {
        /// RFC 8555 §8.3.
        case http = "http-01"
        /// RFC 8737.
        case tls = "tls-alpn-01"
    }

    let kind: Kind
    let url: String
    let token: String

    /// Nil for other kinds, and for malformed challenges.
    init?(_ object: JSONObject) {
        guard let kind = object.text("type").flatMap(Kind.init(rawValue:)),
            let url = object.text("url"), ACMEURL.isUsable(url),
            // The token becomes part of a path (§8.1: Base64 for URLs).
            let token = object.text("token"), 1...256 ~= token.utf8.count,
            token.utf8.allSatisfy({ Self.isTokenCharacter($0) })
        else { return nil }
        self.kind = kind
        self.url = url
        self.token = token
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}
#endif
