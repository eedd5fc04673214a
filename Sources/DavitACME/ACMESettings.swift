internal import DavitHTTP

/// How a server gets its certificate from an ACME server (RFC 8555), such as that of Let's Encrypt.
public struct ACMESettings: Hashable, Sendable {
    /// The directory of Let's Encrypt.
    public static let letsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"

    /// The DNS names of the certificate, 1 to 100, in ASCII. The first one is the default for clients that request no name.
    public var domains: [String]
    /// The URL of the directory; an https URL.
    public var directory = ACMESettings.letsEncrypt
    /// An email address at which the operator of the ACME server can contact the account; nil for none.
    public var email: String?
    /// Whether the user agrees to the terms of service of the ACME server.
    public var agreesToTerms = false
    /// A file with the authorities that may have issued the certificate of the ACME server, in PEM; nil for those of the system.
    public var authorities: String?
    /// Whether names are validated with a plain HTTP request to port 80 (`http-01`) where the ACME server offers it, instead of
    /// a TLS handshake on port 443 (`tls-alpn-01`, RFC 8737). The server must answer on these ports, possibly forwarded.
    public var prefersHTTP = false
    /// The account at the operator of the ACME server to which the new account is bound (RFC 8555 §7.3.4); nil for none.
    public var externalAccount: ExternalAccount?

    /// An account outside of ACME.
    public struct ExternalAccount: Hashable, Sendable {
        /// The identifier of the key.
        public var keyID: String
        /// The key, in Base64 for URLs.
        public var key: String

        /// Creates an account from what its operator has issued.
        public init(keyID: String, key: String) {
            self.keyID = keyID
            self.key = key
        }
    }

    /// Creates settings with the defaults of the other properties.
    public init(domains: [String]) { self.domains = domains }

    /// The reason why settings cannot be used.
    public enum Problem: Error, Hashable, Sendable {
        /// No domain, or more than 100.
        case badCount
        /// Not a DNS name in ASCII with at least two labels, or a wildcard, which needs a challenge that davit does not support.
        case badDomain(String)
        /// The directory is not an https URL.
        case badDirectory(String)
        /// Not an email address.
        case badEmail(String)
        /// The user has not agreed to the terms of service.
        case notAgreed
        /// The identifier or the key of the external account is malformed.
        case badExternalAccount
        /// This build does not include ACME (package trait `ACME`).
        case notIncluded
    }

    /// Maximum number of domains, as at Let's Encrypt.
    private static let domainLimit = 100
    private static let limitBytes = 1024

    /// The first problem with these settings; nil if they can be used.
    package var problem: Problem? {
        guard 1...Self.domainLimit ~= domains.count else { return .badCount }
        for domain in domains where !Self.isDomain(domain) { return .badDomain(domain) }
        guard ACMEURL.isUsable(directory) else { return .badDirectory(directory) }
        if let email, !Self.isEmail(email) { return .badEmail(email) }
        if let account = externalAccount {
            let isID =
                1...Self.limitBytes ~= account.keyID.utf8.count
                && account.keyID.utf8.allSatisfy { 0x21...0x7E ~= $0 }
            guard isID, let key = Base64URL.decode(account.key.utf8), key.count >= 16 else {
                return .badExternalAccount
            }
        }
        return agreesToTerms ? nil : .notAgreed
    }

    private static func isDomain(_ text: String) -> Bool {
        guard 1...253 ~= text.utf8.count else { return false }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let areLabels = labels.allSatisfy { label in
            1...63 ~= label.count && label.first != 45 && label.last != 45
                && label.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
        }
        // An IPv4 address has a numeric last label.
        return areLabels && labels.count >= 2 && labels.last?.allSatisfy(\.isDigit) == false
    }

    private static func isEmail(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        // Commas, question marks and percent signs have a meaning in a mailto URL (RFC 6068).
        return text.utf8.count <= limitBytes && parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
            && text.utf8.allSatisfy { 0x21...0x7E ~= $0 && !",?%&<>\"\\".utf8.contains($0) }
    }
}

/// The URLs that an ACME server may have.
enum ACMEURL {
    private static let limitBytes = 2048

    /// Whether text is an absolute https URL without user information or a fragment.
    static func isUsable(_ text: String) -> Bool {
        let scheme = "https://"
        guard text.utf8.count <= limitBytes, text.hasPrefix(scheme),
            text.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "#") })
        else { return false }
        let rest = Array(text.utf8.dropFirst(scheme.utf8.count))
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        // User information contains an @, which a host cannot.
        return HostField(parsing: rest.span.extracting(0..<end)) != nil
    }
}

extension UInt8 {
    /// Whether this is an ASCII letter or digit.
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case 48...57, 65...90, 97...122: true
        default: false
        }
    }
}
