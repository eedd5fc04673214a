package import DavitLDAP
internal import DavitServer
internal import DavitSystem

/// The LDAP options of the command line.
package struct LDAPOptions: Hashable, Sendable {
    /// Nil without LDAP.
    package var settings: LDAPSettings?
    /// The file with the password for searches.
    package var passwordFile: String?

    package init() {}

    /// Returns the service that verifies passwords; nil without LDAP. Reads the password file.
    func directory() throws(CommandFailure) -> LDAPDirectory? {
        guard var settings else { return nil }
        if let passwordFile { settings.bindPassword = try Self.secret(in: passwordFile) }
        do throws(LDAPSettings.Problem) { return try LDAPDirectory(settings) } catch {
            throw .other(Self.text(for: error))
        }
    }

    /// Returns the first line of a file that only its owner can access.
    static func secret(in path: String) throws(CommandFailure) -> String {
        let file: SmallFile
        do throws(SystemError) { file = try SmallFile(reading: path, limitBytes: 1 << 16) } catch {
            throw .secretFileUnreadable(path, reason: error.description)
        }
        guard UserFile.isPrivate(mode: file.mode) else {
            if !file.isRegular { throw .secretFileUnreadable(path, reason: UserFile.reasonNotAFile) }
            throw .secretFileNotPrivate(path)
        }
        let line = file.bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            throw .secretFileUnreadable(path, reason: "the first line is empty or not UTF-8")
        }
        return text
    }

    static func text(for problem: LDAPSettings.Problem) -> String {
        switch problem {
        case .badURL(let url): "'\(url)' is not an ldap, ldaps or ldapi URL with a host"
        case .badTemplate(let text):
            "'\(text)' is not a valid filter or name; one that finds users must contain ATTRIBUTE={user}"
        case .notIncluded: "this build does not include LDAP"
        }
    }
}

extension Arguments {
    /// The values of the LDAP options, in any order.
    struct LDAPValues {
        var values: [ServeOption: String] = [:]
        var isPlain = false

        static let options: [ServeOption] = [
            .ldap, .ldapBase, .ldapBind, .ldapPasswordFile, .ldapFilter, .ldapUserDN, .ldapGroupFilter,
            .ldapCA,
        ]

        /// - Throws: ``UsageError`` for options that are incomplete or conflict.
        func options() throws(UsageError) -> LDAPOptions {
            var options = LDAPOptions()
            let first = Self.options.first { values[$0] != nil } ?? (isPlain ? .ldapPlain : nil)
            guard let first else { return options }
            guard LDAPLibrary.isAvailable else { throw .traitNeeded(option: first.rawValue, trait: "LDAP") }
            guard let url = values[.ldap] else {
                throw .useless(option: first.rawValue, without: ServeOption.ldap.rawValue)
            }
            guard let base = values[.ldapBase] else {
                throw .incomplete(option: ServeOption.ldap.rawValue, needs: ServeOption.ldapBase.rawValue)
            }
            var settings = LDAPSettings(url: url, base: base)
            settings.bindName = values[.ldapBind]
            settings.userFilter = values[.ldapFilter] ?? settings.userFilter
            settings.userName = values[.ldapUserDN]
            settings.groupFilter = values[.ldapGroupFilter] ?? settings.groupFilter
            settings.authorities = values[.ldapCA]
            settings.isPlain = isPlain
            options.passwordFile = values[.ldapPasswordFile]
            if options.passwordFile == nil, settings.bindName != nil {
                throw .incomplete(
                    option: ServeOption.ldapBind.rawValue, needs: ServeOption.ldapPasswordFile.rawValue)
            }
            if options.passwordFile != nil, settings.bindName == nil {
                throw .useless(
                    option: ServeOption.ldapPasswordFile.rawValue, without: ServeOption.ldapBind.rawValue)
            }
            if let problem = settings.problem { throw .badLDAP(LDAPOptions.text(for: problem)) }
            options.settings = settings
            return options
        }
    }
}
