/// Masks the credentials that a recording must not contain, because a reader could use them to impersonate
/// the user.
package enum CredentialMask {
    static let mask = "***"

    /// Field names in lowercase.
    private static let names: Set<String> = [
        "authorization", "proxy-authorization", "authentication-info", "proxy-authentication-info",
        "cookie", "cookie2", "set-cookie", "set-cookie2", "x-api-key", "x-auth-token",
    ]

    /// The authentication schemes that are kept in masked values. Any other text before a space could be part
    /// of the secret.
    private static let schemes: Set<String> = ["basic", "digest", "bearer", "negotiate", "ntlm"]

    package static func applied(to field: WireField) -> WireField {
        guard names.contains(field.name.lowercased()) else {
            return WireField(name: field.name, value: withoutUser(field.value))
        }
        let scheme = field.value.prefix { $0 != " " }
        let isKnown = scheme.endIndex < field.value.endIndex && schemes.contains(scheme.lowercased())
        return WireField(name: field.name, value: isKnown ? "\(scheme) \(mask)" : mask)
    }

    /// Whether the content of a request and that of its response are omitted: the forms of the account pages and the
    /// interface for administration contain passwords and codes, and their responses keys, recovery codes and app passwords.
    static func hidesContent(method: String, target: String) -> Bool {
        guard method == "POST", let question = target.firstIndex(of: "?") else { return false }
        let query = target[target.index(after: question)...].prefix { $0 != "&" }
        return ["account", "accounts", "app-passwords"].contains(query)
    }

    /// Masks the user information before `@` in the authority of each URL.
    static func withoutUser(_ text: String) -> String {
        guard text.contains("://"), text.contains("@") else { return text }
        var result = ""
        var rest = text[...]
        while let separator = rest.firstRange(of: "://") {
            result += rest[..<separator.upperBound]
            rest = rest[separator.upperBound...]
            let authority = rest.prefix { !"/?#<>\" ".contains($0) }
            guard let at = authority.lastIndex(of: "@") else { continue }
            result += mask + "@"
            rest = rest[authority.index(after: at)...]
        }
        return result + rest
    }

    /// Whether the value of a field is masked, which means that the message contained credentials.
    static func isMasked(_ field: WireField) -> Bool {
        names.contains(field.name.lowercased()) && (field.value == mask || field.value.hasSuffix(" " + mask))
    }
}
