/// A command line that cannot be carried out. The command ends with status 64.
package enum UsageError: Error, Hashable, Sendable {
    case unknownCommand(String, nearest: String?)
    case unknownOption(String, nearest: String?)
    case missingValue(option: String)
    case unwantedValue(option: String)
    case missingFolder
    /// Nothing is named that is to be restored.
    case missingTrash
    case missingRecording
    /// `davit locks`, and nothing to do.
    case missingAction
    case missingLock
    case missingServer
    case badServer(String)
    case moreThanOneFolder(String)
    case badNumber(String, option: String, range: ClosedRange<Int>)
    case badSize(String, option: String)
    case badAge(String, option: String)
    case badUser
    case badScheme(String)
    case badOrigin(String)
    /// `*` as an origin.
    case anyOrigin
    case missingName
    case moreThanOneName(String)
    case badPublicURL(String)
    case badPrefix(String)
    /// The path of a public URL does not end in the prefix.
    case publicURLOutsidePrefix(String)
    case badLogLevel(String)
    case badSyncLevel(String)
    case badExtensions(String)
    case badLitterPolicy(String)
    case badTrustedProxy(String)
    case badProxyFields(String)
    case badSocketMode(String)
    case badAccessLogFormat(String)
    /// An option without the one that it is about.
    case useless(option: String, without: String)
    /// This build has no TLS.
    case noTLS(option: String)
    case certificatesAndKeys(certificates: Int, keys: Int)
    /// This build has no QR codes.
    case noQRCodes(option: String)
    /// The option says something about TLS, and nothing turns TLS on.
    case optionNeedsCertificate(String)
    case badTLSClients(String)
    case clientsWithoutAuthority
    /// Others can reach the host, and there are no users.
    case openToEverybody(host: String)

    /// What is wrong.
    package var message: String {
        switch self {
        case .unknownCommand(let word, _): "there is no command '\(word)'"
        case .unknownOption(let option, _): "there is no option \(option)"
        case .missingValue(let option): "\(option) needs a value"
        case .unwantedValue(let option): "\(option) takes no value"
        case .missingFolder: "which folder?"
        case .missingTrash: "what is to be restored?"
        case .missingRecording: "which recording?"
        case .missingAction: "what about the locks?"
        case .missingLock: "which lock?"
        case .missingServer: "which server? --to is missing"
        case .badServer(let value): "'\(value)' is not the URL of a server"
        case .moreThanOneFolder(let word): "one folder at a time; '\(word)' is one too many"
        case .badNumber(let value, let option, let range):
            "\(option) is a number from \(range.lowerBound) to \(range.upperBound), not '\(value)'"
        case .badSize(let value, let option):
            "\(option) is a number of bytes, perhaps with K, M, G or T behind it, not '\(value)'"
        case .badAge(let value, let option):
            "\(option) is a number of days, or of hours with h behind it, from 1 to 10000, not '\(value)'"
        case .badUser: "--user is a name, a colon and a password"
        case .badScheme(let value): "--auth is a list of schemes, each of them once, not '\(value)'"
        case .badOrigin(let value): "'\(value)' is not the origin of a page"
        case .anyOrigin: "with --allow-origin '*' any page in a browser could read and change the folder"
        case .missingName: "Digest secrets are made for a name: which one?"
        case .moreThanOneName(let word): "one name at a time; '\(word)' is one too many"
        case .badPublicURL(let value): "'\(value)' is not a URL of a server"
        case .badPrefix(let value): "'\(value)' is not the beginning of a path"
        case .publicURLOutsidePrefix(let value): "the path of '\(value)' does not end in the one of --prefix"
        case .badLogLevel(let value): "there is no log level '\(value)'"
        case .badSyncLevel(let value): "--sync is none, data or full, not '\(value)'"
        case .badExtensions(let value): "--allow-extensions is a list of extensions, not '\(value)'"
        case .badLitterPolicy(let value): "--litter is keep, hide, refuse or aside, not '\(value)'"
        case .badTrustedProxy(let value): "'\(value)' is not an address, a network or 'unix'"
        case .badProxyFields(let value): "--proxy-fields is either, forwarded or x-forwarded, not '\(value)'"
        case .badSocketMode(let value): "'\(value)' is not a mode of three octal digits"
        case .badAccessLogFormat(let value): "there is no format '\(value)' of the access log"
        case .useless(let option, let other): "\(option) means nothing without \(other)"
        case .noTLS(let option): "\(option) needs TLS, and this davit was built without it"
        case .noQRCodes(let option): "\(option) needs QR codes, and this davit was built without them"
        case .certificatesAndKeys(let certificates, let keys):
            "each --tls-cert needs its --tls-key; there are \(certificates) and \(keys)"
        case .optionNeedsCertificate(let option): "\(option) needs a certificate of the server"
        case .badTLSClients(let value): "--tls-clients is optional or required, not '\(value)'"
        case .clientsWithoutAuthority: "--tls-clients needs --tls-client-ca"
        case .openToEverybody(let host):
            "without users, everybody who can reach \(host) could read and change the folder"
        }
    }

    /// What to do about it.
    /// - Parameter command: the one that was given, for examples.
    package func advice(for command: Subcommand) -> String {
        switch self {
        case .unknownCommand(_, let nearest?), .unknownOption(_, let nearest?): "Did you mean \(nearest)?"
        case .unknownCommand(_, nil): "See 'davit --help'."
        case .unknownOption(_, nil), .missingValue, .unwantedValue, .badNumber:
            "See 'davit \(command.rawValue) --help'."
        case .missingAction: "For example: davit locks list /srv/files"
        case .missingLock: "For example: davit locks break /srv/files /report.odt"
        case .missingFolder: "For example: davit \(command.beforeFolder) /srv/files"
        case .missingTrash: "For example: davit trash restore /srv/files letters/anna.odt"
        case .missingRecording, .missingServer, .badServer:
            "For example: davit replay /some/recording --to http://127.0.0.1:8080/"
        case .moreThanOneFolder:
            "A name with spaces needs quotes: davit \(command.beforeFolder) '/srv/my files'"
        case .badSize(_, let option): "For example: \(option) 2G"
        case .badAge(_, let option): "For example: \(option) 7, or \(option) 12h"
        case .badUser: "For example: --user anna:secret. See --user-file to keep it out of the process list."
        case .badScheme: "For example: --auth digest,basic. Digest is digest-sha-256,digest-md5."
        case .badOrigin: "For example: --allow-origin https://app.example. There is no path, and no *."
        case .anyOrigin: "Name each origin: --allow-origin https://app.example"
        case .missingName: "For example: davit password anna --digest"
        case .moreThanOneName: "A name with spaces needs quotes: davit password 'anna b'"
        case .badPublicURL: "For example: --public-url https://files.example.org"
        case .badPrefix: "For example: --prefix /dav"
        case .publicURLOutsidePrefix: "For example: --prefix /dav --public-url https://files.example.org/dav"
        case .badLogLevel:
            "The levels are " + ServeOptions.LogLevel.allCases.map(\.rawValue).joined(separator: ", ") + "."
        case .badExtensions: "For example: --allow-extensions jpg,png"
        case .badSyncLevel, .badLitterPolicy, .useless, .badProxyFields:
            "See 'davit \(command.rawValue) --help'."
        case .badTrustedProxy: "For example: --trusted-proxy 127.0.0.1, or --trusted-proxy 10.0.0.0/24"
        case .badSocketMode: "For example: --unix-socket-mode 660"
        case .badAccessLogFormat: "The formats are davit, common, combined and json."
        case .noTLS: "Build it with the package trait TLS, or put a proxy with TLS in front."
        case .noQRCodes: "Build it with the package trait QRCode."
        case .certificatesAndKeys: "Both may be one file: --tls-cert server.pem --tls-key server.pem"
        case .optionNeedsCertificate: "Add --tls-cert FILE --tls-key FILE, or --tls-self-signed."
        case .badTLSClients, .clientsWithoutAuthority: "See 'davit \(command.rawValue) --help'."
        case .openToEverybody:
            "Either add --user NAME:PASSWORD (or --user-file FILE), or share with this machine only:"
                + " --host localhost"
        }
    }
}
