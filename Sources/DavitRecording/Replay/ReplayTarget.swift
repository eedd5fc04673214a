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

/// RFC 4648 §4.
enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for index in 0..<4 {
                text.append(index > group.count ? "=" : alphabet[Int(bits >> UInt32(18 - 6 * index) & 63)])
            }
        }
        return text
    }
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
