internal import DavitHTTP
internal import DavitSystem

/// The server of a replay, with the credentials for it.
package struct ReplayTarget: Sendable {
    package var server: ServerAddress
    /// `NAME:PASSWORD`; sent with Basic authentication (RFC 7617) in place of a masked Authorization field,
    /// and with each request of a transcript.
    package var credentials: String?
    /// The maximum time without data from the server.
    package var timeoutSeconds = 60

    package init(_ server: ServerAddress, credentials: String? = nil) {
        self.server = server
        self.credentials = credentials
    }

    var authorization: WireField? {
        credentials.map { WireField(name: "Authorization", value: "Basic " + Base64.encode(Array($0.utf8))) }
    }

    func client() -> WireClient { WireClient(server, timeoutSeconds: timeoutSeconds) }
}

/// The reason why a replay could not start.
package enum ReplayError: Error, Hashable, Sendable {
    case cannotConnect(String)
    /// A file or folder that the transcript needs could not be created.
    case setUp(String)
}

extension WireError {
    /// A description for a report.
    var text: String {
        switch self {
        case .unknownHost(let host): "cannot resolve host \(host)"
        case .system(let error): error.description
        case .closed: "the connection was closed"
        case .silent(let seconds): "no data for \(seconds) seconds"
        case .malformed: "malformed response"
        case .notSecure(let reason): "TLS: \(reason)"
        case .noTLS: "this build does not include TLS"
        }
    }
}
