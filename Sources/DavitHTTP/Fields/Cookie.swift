/// A cookie that a response stores in the browser (RFC 6265).
///
/// ```swift
/// var response = HTTPResponse.redirect(to: "/")
/// response.setCookie(Cookie(name: "session", value: token, maxAgeSeconds: 3600))
/// ```
public struct Cookie: Hashable, Sendable {
    /// Which requests from pages of other sites include the cookie (RFC 6265bis §5.6.7).
    public enum SameSite: String, Sendable {
        /// No request.
        case strict = "Strict"
        /// Only navigations with a safe method, such as following a link.
        case lax = "Lax"
        /// All requests; requires ``Cookie/isSecure``.
        case none = "None"
    }

    /// Any text; see ``HTTPResponse/setCookie(_:)``.
    public var name: String
    /// Any text; see ``HTTPResponse/setCookie(_:)``.
    public var value: String
    /// How long the browser stores the cookie; nil means until the browser is closed. 0 removes the cookie.
    public var maxAgeSeconds: Int?
    /// The path at and below which the browser sends the cookie, percent-encoded.
    public var path: String
    /// Whether the browser sends the cookie only over TLS. Set this if the server uses TLS.
    public var isSecure: Bool
    /// Whether scripts cannot read the cookie.
    public var isHTTPOnly: Bool
    /// Which requests from other sites include the cookie.
    public var sameSite: SameSite

    /// Creates a cookie, by default for the whole server and not readable by scripts.
    public init(
        name: String, value: String, maxAgeSeconds: Int? = nil, path: String = "/", isSecure: Bool = false,
        isHTTPOnly: Bool = true, sameSite: SameSite = .lax
    ) {
        self.name = name
        self.value = value
        self.maxAgeSeconds = maxAgeSeconds
        self.path = path
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
    }

    /// The value of Set-Cookie. The name, the value, and any `;` in the path are percent-encoded, so that no
    /// text can add an attribute.
    var fieldValue: [UInt8] {
        var text: [UInt8] = []
        PercentCoding.append(Array(name.utf8), to: &text)
        text.append(UInt8(ascii: "="))
        PercentCoding.append(Array(value.utf8), to: &text)
        text.append("; Path=")
        for byte in path.utf8 {
            if byte == UInt8(ascii: ";") { text.append("%3B") } else { text.append(byte) }
        }
        if let maxAgeSeconds {
            text.append("; Max-Age=")
            text.appendDecimal(Int64(maxAgeSeconds))
        }
        if isSecure { text.append("; Secure") }
        if isHTTPOnly { text.append("; HttpOnly") }
        text.append("; SameSite=")
        text.append(contentsOf: sameSite.rawValue.utf8)
        return text
    }
}

extension HTTPResponse {
    /// Adds a cookie. All characters of its name and value except letters, digits, `-`, `.`, `_` and `~` are
    /// percent-encoded; ``HTTPRequest/cookies`` decodes them.
    public mutating func setCookie(_ cookie: Cookie) {
        fields.append(named: "Set-Cookie", String(decoding: cookie.fieldValue, as: UTF8.self))
    }
}

/// The cookies of a request, by name.
public struct RequestCookies: Sendable {
    private var pairs: [(name: String, value: String)] = []

    /// Parses the value of Cookie (RFC 6265 §4.2.1); pairs without a name are ignored.
    init(parsing value: String) {
        for pair in value.utf8.split(separator: UInt8(ascii: ";")) {
            let pair = pair.drop { $0.isWhitespace }
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")), equals > pair.startIndex else {
                continue
            }
            pairs.append((Self.text(pair[..<equals]), Self.text(pair[pair.index(after: equals)...])))
        }
    }

    /// The decoded value of the first cookie with this name; nil if the browser sent none.
    public subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// The decoded values of all cookies with this name. A browser sends several if different paths or domains
    /// have set them.
    package func all(_ name: String) -> [String] {
        pairs.compactMap { $0.name == name ? $0.value : nil }
    }

    /// Decodes percent-encoding. Text with a malformed escape was set by another program and is returned
    /// unchanged.
    private static func text(_ bytes: Substring.UTF8View) -> String {
        let bytes = Array(bytes)
        return String(decoding: PercentCoding.decode(bytes) ?? bytes, as: UTF8.self)
    }
}

extension HTTPRequest {
    /// The cookies that the browser sent: `request.cookies["session"]`. Parsed on each access.
    public var cookies: RequestCookies { RequestCookies(parsing: string(named: "Cookie") ?? "") }
}
