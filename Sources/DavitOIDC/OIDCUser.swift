#if TLS
internal import DavitHTTP
internal import DavitServer
internal import DavitSQLite
internal import DavitWebClient

/// The user of an ID token.
enum OIDCUser {
    /// Maximum number of groups, and length of the name of a group in bytes.
    private static let groupLimit = 1000
    private static let groupBytes = 256

    /// Returns the user of verified claims.
    ///
    /// If the groups cannot be determined, the user is refused: a missing group could also give more rights, because rules
    /// can take rights from groups.
    static func verification(_ claims: JSONObject, _ settings: OIDCSettings) -> SignInVerification {
        guard let name = claims.text(settings.userClaim) else {
            return .refused(reason: "the ID token has no claim '\(settings.userClaim)' with a name")
        }
        if settings.userClaim == "email", claims["email_verified"] != true {
            return .refused(reason: "the provider has not verified the address of the user")
        }
        guard let groups = groups(claims, settings.groupsClaim) else {
            return .refused(reason: "the claim '\(settings.groupsClaim)' is not a complete list of groups")
        }
        return .right(name: name, groups: groups)
    }

    private static func groups(_ claims: JSONObject, _ claim: String) -> Set<String>? {
        // OpenID Connect Core §5.6.2: the value is elsewhere. Some providers do that if there are many groups.
        if let elsewhere = claims["_claim_names"], elsewhere[claim] != nil { return nil }
        guard let value = claims[claim], value != .null else { return [] }
        guard let groups = claims.texts(claim), groups.count <= groupLimit,
            groups.allSatisfy({ 1...groupBytes ~= $0.utf8.count && !$0.utf8.contains(where: \.isControl) })
        else { return nil }
        return Set(groups)
    }
}
#endif
