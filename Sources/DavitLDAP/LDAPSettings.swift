/// How users are found in a directory.
public struct LDAPSettings: Hashable, Sendable {
    /// `ldap://`, `ldaps://` or `ldapi://`, with host and port; several URLs, separated by spaces, are tried in
    /// order. A connection to an `ldap` URL is encrypted with StartTLS before anything else is sent.
    public var url: String
    /// The entry below which users and groups are searched.
    public var base: String
    /// The distinguished name with which davit searches; nil to search anonymously.
    public var bindName: String?
    /// The password for ``bindName``.
    public var bindPassword = ""
    /// The filter for users. `{user}` is the name that the client has sent. The attribute that is first compared with it
    /// contains the name to which rules refer.
    public var userFilter = "(uid={user})"
    /// The distinguished name of users, such as `uid={user},ou=people,dc=example,dc=org`. Nothing is then searched
    /// before the user has logged in, and ``bindName`` is not used.
    public var userName: String?
    /// The filter for the groups of a user. `{dn}` is the distinguished name of the user, and `{user}` the name. Empty
    /// for no groups. Their names are the values of `cn`.
    public var groupFilter = "(|(member={dn})(uniqueMember={dn})(memberUid={user}))"
    /// A PEM file with the authorities that the certificate of the directory must be issued by; nil for those of
    /// the system.
    public var authorities: String?
    /// Sends passwords over unencrypted connections to `ldap` URLs. Only for connections within one machine.
    public var isPlain = false

    public init(url: String, base: String) {
        self.url = url
        self.base = base
    }

    /// The reason why settings cannot be used.
    public enum Problem: Error, Hashable, Sendable {
        /// The URL has another form.
        case badURL(String)
        /// The filter or name does not contain `{user}`, or its parentheses are not balanced.
        case badTemplate(String)
        /// This build has no libldap: it was built without the package trait `LDAP`.
        case notIncluded
    }

    /// The first problem with these settings; nil if they can be used.
    package var problem: Problem? {
        let urls = url.split(separator: " ")
        let schemes = ["ldap://", "ldaps://", "ldapi://"]
        for url in urls
        where !schemes.contains(where: { url.hasPrefix($0) && url.count > $0.count }) || url.contains("?") {
            return .badURL(String(url))
        }
        if urls.isEmpty { return .badURL(url) }
        // All must be encrypted in the same way, because the library chooses one of them.
        let scheme = urls[0].prefix { $0 != ":" }
        for url in urls where !url.hasPrefix(scheme + ":") { return .badURL(String(url)) }
        let main = userName ?? userFilter
        guard main.contains("{user}") else { return .badTemplate(main) }
        if userName == nil, nameAttribute == nil || !Self.isBalanced(userFilter) {
            return .badTemplate(userFilter)
        }
        if !groupFilter.isEmpty, !Self.isBalanced(groupFilter) { return .badTemplate(groupFilter) }
        return nil
    }

    private static func isBalanced(_ filter: String) -> Bool {
        guard filter.hasPrefix("("), filter.hasSuffix(")") else { return false }
        var depth = 0
        for byte in filter.utf8 {
            if byte == UInt8(ascii: "(") { depth += 1 }
            if byte == UInt8(ascii: ")") { depth -= 1 }
            if depth < 0 { return false }
        }
        return depth == 0
    }

    /// The attribute that contains the name of a user: the one that the filter or the distinguished name first
    /// compares with `{user}`.
    package var nameAttribute: String? {
        let text = userName ?? userFilter
        let sign: Character = "="
        var rest = text[...]
        while let index = rest.firstIndex(of: sign) {
            let after = rest[rest.index(after: index)...]
            if after.hasPrefix("{user}") {
                let start = rest[..<index].lastIndex { !Self.isAttributeCharacter($0) }
                let name = rest[(start.map(rest.index(after:)) ?? rest.startIndex)..<index]
                return name.isEmpty ? nil : String(name)
            }
            rest = after
        }
        return nil
    }

    private static func isAttributeCharacter(_ character: Character) -> Bool {
        character.isASCII
            && (character.isLetter || character.isNumber || character == "-" || character == ".")
    }
}

/// Whether this build includes libldap (package trait `LDAP`).
package enum LDAPLibrary {
    package static var isAvailable: Bool {
        #if LDAP
        true
        #else
        false
        #endif
    }
}
