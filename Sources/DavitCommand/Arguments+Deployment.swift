internal import Davit
internal import DavitHTTP
internal import DavitServer

/// The options for sockets, proxies and logs.
extension Arguments {
    static func deploymentOption(
        _ option: ServeOption, _ value: String, _ options: inout ServeOptions
    ) throws(UsageError) {
        switch option {
        case .unixSocket: options.unixSocket = value
        case .unixSocketMode:
            guard (3...4).contains(value.utf8.count), let mode = UInt32(value, radix: 8), mode <= 0o777,
                value.utf8.first != UInt8(ascii: "+")
            else { throw .badSocketMode(value) }
            options.unixSocketMode = mode
        case .publicURL:
            guard let url = PublicURL(parsing: value) else { throw .badPublicURL(value) }
            options.publicURLs.append(url)
        case .prefix:
            guard let prefix = PathPrefix(value) else { throw .badPrefix(value) }
            options.prefix = prefix
        case .trustedProxy:
            guard Configuration.Proxies.isUsable(value) else { throw .badTrustedProxy(value) }
            options.proxies.trusted.append(value)
        case .proxyFields:
            guard let fields = TrustedProxies.Fields(rawValue: value) else { throw .badProxyFields(value) }
            options.proxies.fields = fields
        case .accessLog: options.accessLog = value
        case .accessLogFormat:
            guard let format = AccessFormat(rawValue: value) else { throw .badAccessLogFormat(value) }
            options.accessLogFormat = format
        default: break
        }
    }

    /// Checks that depend on more than one option, made after all options have been parsed.
    static func checkDeployment(_ options: inout ServeOptions) throws(UsageError) {
        if options.unixSocket == nil, options.unixSocketMode != nil {
            throw useless(.unixSocketMode, without: .unixSocket)
        }
        if options.accessLog == nil, options.accessLogFormat != nil {
            throw useless(.accessLogFormat, without: .accessLog)
        }
        if options.proxies.trusted.isEmpty, options.proxies.fields != .either {
            throw useless(.proxyFields, without: .trustedProxy)
        }
        for url in options.publicURLs
        where url.prefix != .empty && url.prefix.removing(suffix: options.prefix) == nil {
            throw .publicURLOutsidePrefix(url.text)
        }
        // A Unix socket replaces the default hosts.
        if options.unixSocket != nil, options.listensByDefault { options.hosts = [] }
    }

    private static func useless(_ option: ServeOption, without other: ServeOption) -> UsageError {
        .useless(option: option.rawValue, without: other.rawValue)
    }
}
