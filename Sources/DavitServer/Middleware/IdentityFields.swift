internal import DavitHTTP

/// The fields in which a trusted proxy reports the user whom it has authenticated, such as `Remote-User` and
/// `Remote-Groups`.
public struct IdentityFields: Hashable, Sendable {
    /// The field with the name of the user.
    public let user: String
    /// The field with the groups of the user, separated by commas; nil if the proxy reports none.
    public let groups: String?

    /// Maximum number of groups; further groups are an error.
    static let groupLimit = 256
    /// Maximum length of a name in bytes, which is that of an account.
    static let nameLimit = 256

    /// Returns nil unless both names are tokens (RFC 9110 §5.1), differ, and are not used by this server.
    public init?(user: String, groups: String? = nil) {
        guard Self.isUsable(user), groups.map(Self.isUsable) ?? true else { return nil }
        if let groups, Self.isVariant(Array(user.utf8)[...], of: groups) { return nil }
        self.user = user
        self.groups = groups
    }

    /// Whether a field with this name can report a user or groups.
    package static func isUsable(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return 1...64 ~= bytes.count && bytes.allSatisfy(\.isTokenCharacter)
            && FieldName(parsing: bytes.span) == .other
    }

    /// Removes the fields from a request.
    /// - Returns: the user; nil if the peer is not trusted or reports no user.
    /// - Throws: 400 if a trusted proxy may have passed on a field of its client, or a name is invalid.
    func take(from request: HTTPRequest, isTrusted: Bool) throws(HTTPError) -> ForwardedIdentity? {
        var users: [[UInt8]] = []
        var lists: [[UInt8]] = []
        request.removeLines { line, head in
            // Only fields without a name of their own are candidates; see ``isUsable(_:)``.
            guard line.name == .other else { return false }
            let name = head[line.nameRange]
            if Self.isVariant(name, of: user) {
                // Another spelling passes a proxy that only replaces the field itself.
                if Self.isSame(name, as: user) { users.append(Array(head[line.valueRange])) }
                return true
            }
            guard let groups, Self.isVariant(name, of: groups) else { return false }
            if Self.isSame(name, as: groups) { lists.append(Array(head[line.valueRange])) }
            return true
        }
        guard isTrusted else { return nil }
        // A proxy that appends its field to that of the client, instead of replacing it.
        guard users.count <= 1, lists.count <= 1 else {
            throw HTTPError(.badRequest, "The proxy sent an identity field more than once.")
        }
        guard let user = users.first, !user.isEmpty else { return nil }
        return ForwardedIdentity(name: try Self.name(user), groups: try Self.groups(lists.first ?? []))
    }

    private static func name(_ bytes: [UInt8]) throws(HTTPError) -> String {
        // Several fields can arrive as one, joined by commas (RFC 9110 §5.3).
        guard !bytes.contains(UInt8(ascii: ",")), let name = text(bytes) else {
            throw HTTPError(.badRequest, "The proxy sent an invalid user name.")
        }
        return name
    }

    private static func groups(_ bytes: [UInt8]) throws(HTTPError) -> Set<String> {
        var groups: Set<String> = []
        for element in bytes.split(separator: UInt8(ascii: ",")) {
            let trimmed = element.span.extracting(element.span.trimmedRange)
            if trimmed.isEmpty { continue }
            guard let name = text([UInt8](copying: trimmed)), groups.count < groupLimit else {
                throw HTTPError(.badRequest, "The proxy sent invalid or too many groups.")
            }
            groups.insert(name)
        }
        return groups
    }

    private static func text(_ bytes: [UInt8]) -> String? {
        guard bytes.count <= nameLimit, !bytes.contains(where: \.isControl) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isSame(_ name: ArraySlice<UInt8>, as field: String) -> Bool {
        name.elementsEqual(field.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
    }

    /// Whether two names are equal for a program that passes fields as environment variables (RFC 3875
    /// §4.1.18).
    private static func isVariant(_ name: ArraySlice<UInt8>, of field: String) -> Bool {
        func folded(_ byte: UInt8) -> UInt8 {
            byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : byte.lowercasedASCII
        }
        return name.elementsEqual(field.utf8) { folded($0) == folded($1) }
    }
}
