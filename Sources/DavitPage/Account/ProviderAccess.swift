#if TLS
internal import DavitHTTP
package import DavitServer

/// Signing in at a provider, as the account pages use it.
package struct ProviderAccess: Sendable {
    /// A URL of this server.
    package struct Address: Sendable {
        let host: [UInt8]
        let port: UInt16?
        /// Without a trailing slash.
        let text: String

        /// - Parameters:
        ///   - host: in lower case.
        ///   - port: nil for the default port of the scheme.
        ///   - text: the URL without a trailing slash.
        package init(host: String, port: UInt16?, text: String) {
            self.host = Array(host.utf8)
            self.port = port
            self.text = text
        }
    }

    let signIns: ProviderSignIns
    let tickets = SignInTickets()
    private let urls: [Address]

    /// The name of the provider.
    var name: String { signIns.name }

    /// - Parameter urls: nonempty; the first one applies to requests for other hosts.
    package init(_ signIns: ProviderSignIns, urls: [Address]) {
        self.signIns = signIns
        self.urls = urls
    }

    /// Whether a request begins or completes a sign-in at the provider.
    static func concerns(_ request: HTTPRequest) -> Bool {
        AccountRoute.isReturn(request) || AccountRoute.isStart(request)
    }

    /// Returns the URL to which the provider sends the browser. Never depends on other text in the request than a host of
    /// this server.
    func redirectURL(for request: HTTPRequest) -> String {
        let host = request.host
        let url = urls.first { $0.host == host?.host && $0.port == host?.port } ?? urls.first
        return AccountRoute.returnURL(below: url?.text ?? "")
    }
}
#endif
