package import DavitOIDC
internal import DavitPage

/// The OpenID Connect options of the command line.
package struct OIDCOptions: Hashable, Sendable {
    /// Nil without OpenID Connect.
    package var settings: OIDCSettings?
    /// The file with the secret of davit at the provider; nil for a public client.
    package var secretFile: String?

    package init() {}

    /// Returns the provider; nil without OpenID Connect. Reads the file with the secret.
    func provider() throws(CommandFailure) -> OIDCProvider? {
        guard var settings else { return nil }
        if let secretFile { settings.clientSecret = try LDAPOptions.secret(in: secretFile) }
        do throws(OIDCSettings.Problem) { return try OIDCProvider(settings) } catch {
            throw .other(Self.text(for: error))
        }
    }

    static func text(for problem: OIDCSettings.Problem) -> String {
        switch problem {
        case .badIssuer(let url): "the issuer '\(url)' is not an https URL, or has a query"
        case .badClient: "the client ID and secret must be 1 to 1024 characters of printable ASCII"
        case .badName(let text): "'\(text)' cannot be the name of a claim or of the provider"
        case .badScopes(let text): "'\(text)' is not a list of scopes"
        case .notIncluded: "this build does not include OpenID Connect"
        }
    }
}

extension Arguments {
    /// The values of the OpenID Connect options, in any order.
    struct OIDCValues {
        var values: [ServeOption: String] = [:]

        static let options: [ServeOption] = [
            .oidcIssuer, .oidcClientID, .oidcClientSecretFile, .oidcUserClaim, .oidcGroupsClaim, .oidcScopes,
            .oidcName, .oidcCA,
        ]

        /// - Parameter serve: the other options.
        /// - Throws: ``UsageError`` for options that are incomplete or conflict.
        func options(with serve: ServeOptions) throws(UsageError) -> OIDCOptions {
            var options = OIDCOptions()
            guard let first = Self.options.first(where: { values[$0] != nil }) else { return options }
            guard OIDCLibrary.isAvailable else { throw .traitNeeded(option: first.rawValue, trait: "OIDC") }
            let main = ServeOption.oidcIssuer.rawValue
            guard let issuer = values[.oidcIssuer] else {
                throw .useless(option: first.rawValue, without: main)
            }
            guard let clientID = values[.oidcClientID] else {
                throw .incomplete(option: main, needs: ServeOption.oidcClientID.rawValue)
            }
            if serve.publicURLs.isEmpty {
                throw .incomplete(option: main, needs: ServeOption.publicURL.rawValue)
            }
            if !serve.page.isEnabled { throw .conflict(option: main, other: ServeOption.noPage.rawValue) }
            var settings = OIDCSettings(issuer: issuer, clientID: clientID)
            settings.name = values[.oidcName] ?? settings.name
            settings.userClaim = values[.oidcUserClaim] ?? settings.userClaim
            settings.groupsClaim = values[.oidcGroupsClaim] ?? settings.groupsClaim
            settings.scopes = values[.oidcScopes] ?? settings.scopes
            settings.authorities = values[.oidcCA]
            if let problem = settings.problem { throw .badOIDC(OIDCOptions.text(for: problem)) }
            options.settings = settings
            options.secretFile = values[.oidcClientSecretFile]
            return options
        }
    }
}
