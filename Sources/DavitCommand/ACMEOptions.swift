package import DavitACME

/// The ACME options of the command line.
package struct ACMEOptions: Hashable, Sendable {
    /// Nil without ACME.
    package var settings: ACMESettings?
    /// The TCP port for plain HTTP; nil for none.
    package var plainPort: UInt16?
    /// The file with the key of the external account; nil without one.
    package var externalKeyFile: String?

    package init() {}

    /// Returns what gets the certificate; nil without ACME. Reads the file with the key of the external account.
    func issuer() throws(CommandFailure) -> ACMEIssuer? {
        guard var settings else { return nil }
        if let externalKeyFile { settings.externalAccount?.key = try LDAPOptions.secret(in: externalKeyFile) }
        do throws(ACMESettings.Problem) { return try ACMEIssuer(settings) } catch {
            throw .other(Self.text(for: error))
        }
    }

    static func text(for problem: ACMESettings.Problem) -> String {
        switch problem {
        case .badCount: "a certificate can have 1 to 100 domains"
        case .badDomain(let name) where name.hasPrefix("*."):
            "'\(name)' needs a certificate for a wildcard, for which davit cannot prove control of the domain"
        case .badDomain(let name): "'\(name)' is not a domain name in ASCII with at least two labels"
        case .badDirectory(let url): "the directory '\(url)' is not an https URL"
        case .badEmail(let text): "'\(text)' is not an email address"
        case .notAgreed:
            "--acme requires --acme-agree, which agrees to the terms of service of the ACME server"
        case .badExternalAccount:
            "the key of the external account must be at least 16 bytes in Base64 for URLs, and its ID printable ASCII"
        case .notIncluded: "this build does not include ACME"
        }
    }
}

extension Arguments {
    /// The values of the ACME options, in any order.
    struct ACMEValues {
        var domains: [String] = []
        var values: [ServeOption: String] = [:]
        var isAgreed = false
        var plainPort: UInt16?

        static let options: [ServeOption] = [
            .acmeDirectory, .acmeEmail, .acmeCA, .acmeAccount, .acmeAccountKeyFile,
        ]

        /// - Throws: ``UsageError`` for options that are incomplete or conflict.
        func options() throws(UsageError) -> ACMEOptions {
            var options = ACMEOptions()
            let given: ServeOption? =
                !domains.isEmpty
                ? .acme
                : isAgreed
                    ? .acmeAgree : plainPort != nil ? .acmeHTTP : Self.options.first { values[$0] != nil }
            guard let given else { return options }
            guard ACMELibrary.isAvailable else { throw .traitNeeded(option: given.rawValue, trait: "ACME") }
            if domains.isEmpty { throw .useless(option: given.rawValue, without: ServeOption.acme.rawValue) }
            var settings = ACMESettings(domains: domains)
            settings.directory = values[.acmeDirectory] ?? settings.directory
            settings.email = values[.acmeEmail]
            settings.agreesToTerms = isAgreed
            settings.authorities = values[.acmeCA]
            settings.prefersHTTP = plainPort != nil
            switch (values[.acmeAccount], values[.acmeAccountKeyFile]) {
            case (nil, nil): break
            case (let id?, let file?):
                // The key is read later; this one has the required length.
                settings.externalAccount = .init(keyID: id, key: "AAAAAAAAAAAAAAAAAAAAAA")
                options.externalKeyFile = file
            case (_?, nil):
                throw .incomplete(
                    option: ServeOption.acmeAccount.rawValue, needs: ServeOption.acmeAccountKeyFile.rawValue)
            case (nil, _?):
                throw .useless(
                    option: ServeOption.acmeAccountKeyFile.rawValue, without: ServeOption.acmeAccount.rawValue
                )
            }
            if let problem = settings.problem { throw .badACME(ACMEOptions.text(for: problem)) }
            options.settings = settings
            options.plainPort = plainPort
            return options
        }
    }
}
