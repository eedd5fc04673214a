public import DavitHTTP

extension HTTPRequest {
    /// The signed-in principal in routes and shares: the account, how the client has signed in, and what the
    /// credential is limited to. Anonymous if the request has not been authenticated.
    ///
    /// Setting it also sets ``DavitHTTP/HTTPRequest/principal`` to the name of the account. A middleware that
    /// authenticates clients itself and only knows a name can set `principal` instead.
    public var identity: Principal {
        get {
            if let details = identityDetails as? IdentityDetails { return details.principal }
            return principal.map { Principal(.account, $0) } ?? .anonymous
        }
        set {
            principal = newValue.name
            if newValue.isMoreThanName { identityDetails = IdentityDetails(newValue) }
        }
    }

    /// The ID of the credential with which the request was authenticated, such as that of an app password; nil for the
    /// password of an account.
    package var credentialID: String? { (identityDetails as? IdentityDetails)?.credentialID }

    /// Like ``identity``, without an allocation.
    package func setIdentity(_ details: IdentityDetails) {
        principal = details.principal.name
        identityDetails = details
    }
}

/// A principal that is more than the name of an account, as requests refer to it.
package final class IdentityDetails: Sendable {
    package let principal: Principal
    /// Identifies the credential, such as the ID of an app password; nil for the password of an account.
    package let credentialID: String?

    package init(_ principal: Principal, credentialID: String? = nil) {
        self.principal = principal
        self.credentialID = credentialID
    }
}

extension Principal {
    /// Whether the name of the account does not determine the principal.
    fileprivate var isMoreThanName: Bool { self != (name.map { Principal(.account, $0) } ?? .anonymous) }
}
