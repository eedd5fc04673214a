internal import DavitCrypto
internal import DavitHTTP
internal import DavitSystem
internal import DavitWebClient

/// A service that receives each event as a POST request, signed as in the specification of Standard Webhooks.
///
/// The fields `webhook-id`, `webhook-timestamp` and `webhook-signature` contain the ID of the event, the time of the attempt in
/// seconds since 1970, and `v1,` with the HMAC-SHA256 in Base64 of ID, timestamp and content, separated by full stops.
package struct WebhookReceiver: Hashable, Sendable {
    /// The reason why a receiver cannot be used.
    package enum Problem: Error, Hashable, Sendable {
        /// The URL is not an https URL, or http URL of this machine.
        case badURL(String)
        /// The secret has fewer than 24 bytes, or is not Base64 although it begins with `whsec_`.
        case badSecret
        /// This build does not include webhooks (package trait `Webhooks`).
        case notIncluded
    }

    /// The smallest length of a secret, in bytes.
    package static let leastSecretBytes = 24

    package let url: String
    private let secret: [UInt8]
    private let authorities: String?

    /// - Parameters:
    ///   - secret: the secret that the service knows too: `whsec_` and Base64, or any text; nil for requests without a
    ///     signature.
    ///   - authorities: a file with the authorities that may have issued the certificate of the service, in PEM; nil
    ///     for those of the system.
    package init(_ url: String, secret: String?, authorities: String? = nil) throws(Problem) {
        guard WebhookLibrary.isAvailable else { throw .notIncluded }
        guard ServiceURL.isUsable(url, allowsLoopback: true) else { throw .badURL(url) }
        self.url = url
        self.authorities = authorities
        self.secret = try secret.map { (secret) throws(Problem) in try Self.key(secret) } ?? []
    }

    /// Returns the key that a secret contains.
    static func key(_ secret: String) throws(Problem) -> [UInt8] {
        let prefix = "whsec_"
        var key = Array(secret.utf8)
        if secret.hasPrefix(prefix) {
            guard let decoded = Base64.decode(Array(key.dropFirst(prefix.utf8.count)).span) else {
                throw .badSecret
            }
            key = decoded
        }
        guard key.count >= leastSecretBytes else { throw .badSecret }
        return key
    }
}

/// Whether this build includes webhooks (package trait `Webhooks`).
package enum WebhookLibrary {
    package static var isAvailable: Bool {
        #if Webhooks
        true
        #else
        false
        #endif
    }
}

#if Webhooks
extension WebhookReceiver: EventReceiver {
    private static let connectMilliseconds = 10_000
    private static let totalMilliseconds = 30_000
    /// The maximum length of the content of a response, which is ignored.
    private static let limitBytes = 64 << 10

    package var name: String { url }

    package func deliver(_ event: DeliveredEvent, isCancelled: @escaping @Sendable () -> Bool)
        -> DeliveryResult
    {
        let client = HTTPSClient(
            authorities: authorities, allowsPlain: url.hasPrefix("http:"),
            connectMilliseconds: Self.connectMilliseconds, totalMilliseconds: Self.totalMilliseconds,
            isCancelled: isCancelled)
        var request = ServiceRequest(url: url, limitBytes: Self.limitBytes)
        request.content = event.json
        request.fields = ["Content-Type: application/json", "Accept:", "Expect:"]
        guard let fields = fields(of: event, seconds: Clock.wallNow() / 1_000_000_000) else {
            return .unavailable(reason: "the event cannot be signed")
        }
        request.fields += fields
        do throws(ServiceFailure) {
            return Self.delivery(try client.send(request).status)
        } catch {
            switch error {
            case .unavailable(let reason): return .unavailable(reason: reason)
            case .tooLong: return .unavailable(reason: "the response is longer than 64 KiB")
            case .cancelled: return .cancelled
            }
        }
    }

    /// Returns the fields of an attempt at a time; nil if the event cannot be signed.
    package func fields(of event: DeliveredEvent, seconds: Int64) -> [String]? {
        var fields = ["webhook-id: \(event.id)", "webhook-timestamp: \(seconds)"]
        if !secret.isEmpty {
            let signed = Array("\(event.id).\(seconds).".utf8) + event.json
            guard let code = try? HMACSHA256.make(for: signed.span, key: secret.span) else { return nil }
            fields.append("webhook-signature: v1,\(Base64.encode(code))")
        }
        return fields
    }

    /// Returns what a status means. A client error is about this event, except for those that ask the client to wait.
    package static func delivery(_ status: Int) -> DeliveryResult {
        switch status {
        case 200..<300: .delivered
        case 408, 425, 429: .unavailable(reason: "status \(status)")
        case 400..<500: .refused(reason: "status \(status)")
        default: .unavailable(reason: "status \(status)")
        }
    }
}
#endif
