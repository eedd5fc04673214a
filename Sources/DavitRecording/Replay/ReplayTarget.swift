internal import DavitHTTP
internal import DavitSystem

/// The server of a replay, and who asks it.
package struct ReplayTarget: Sendable {
    package var server: ServerAddress
    /// `NAME:PASSWORD`; sent as Basic (RFC 7617), where credentials belong.
    package var credentials: String?
    /// How long an answer may take.
    package var patienceSeconds = 60

    package init(_ server: ServerAddress, credentials: String? = nil) {
        self.server = server
        self.credentials = credentials
    }

    var authorization: WireField? {
        credentials.map { WireField(name: "Authorization", value: "Basic " + Base64.encode(Array($0.utf8))) }
    }

    func client() -> WireClient { WireClient(server, patienceSeconds: patienceSeconds) }
}

/// Why nothing could be replayed.
package enum ReplayError: Error, Hashable, Sendable {
    case cannotConnect(String)
    /// What a transcript needs could not be made.
    case setUp(String)
}

extension WireError {
    /// In words for a report.
    var text: String {
        switch self {
        case .unknownHost(let host): "the host \(host) is not known"
        case .system(let error): error.description
        case .closed: "the connection was closed"
        case .silent(let seconds): "nothing came for \(seconds) seconds"
        case .malformed: "what came is no answer"
        case .notSecure(let reason): "TLS: \(reason)"
        case .noTLS: "this build has no TLS"
        }
    }
}
