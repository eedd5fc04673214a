#if TLS
internal import DavitHTTP
internal import DavitSQLite
internal import DavitWebClient

/// The reason why no certificate was issued. Texts are for the log.
enum ACMEError: Error, Hashable, Sendable {
    /// The ACME server does not respond, or something on this machine fails.
    case unavailable(String)
    /// The ACME server responds with something that cannot be used.
    case invalid(String)
    /// The ACME server refuses a request.
    case refused(ACMEProblem)
    /// A name could not be validated.
    case notValidated(domain: String, ACMEProblem?)
    /// The server stops.
    case cancelled

    var text: String {
        switch self {
        case .unavailable(let reason), .invalid(let reason): reason
        case .refused(let problem): problem.text
        case .notValidated(let domain, let problem):
            "\(domain) could not be validated: \(problem?.text ?? "no reason was given")"
        case .cancelled: "the server stops"
        }
    }

    /// The least time in seconds before the next attempt that the ACME server has named; nil if it has not.
    var retrySeconds: Int64? {
        switch self {
        case .refused(let problem): problem.retrySeconds
        default: nil
        }
    }
}

/// An error document of an ACME server (RFC 7807, RFC 8555 §6.7).
struct ACMEProblem: Hashable, Sendable {
    static let limitBytes = 64 << 10
    /// Maximum length of a text in the log.
    private static let textBytes = 512
    private static let prefix = "urn:ietf:params:acme:error:"

    /// The type without the prefix of RFC 8555 §6.7, such as `badNonce`; empty without a type.
    let kind: String
    let detail: String
    /// The status of the response; 0 if it is unknown.
    let status: Int
    /// The problems with single identifiers (§6.7.1), as texts.
    let parts: [String]
    /// The value of Retry-After in seconds (RFC 9110 §10.2.3).
    let retrySeconds: Int64?

    /// Reads the response to a refused request. Anything that is not a problem document has an empty kind.
    init(_ response: ServiceResponse, now: Timestamp) {
        let object = JSONObject(parsing: response.bytes, limitBytes: Self.limitBytes)
        self.init(
            object, status: response.status,
            retrySeconds: response.fields["retry-after"].flatMap { Self.seconds(in: $0, now: now) })
    }

    /// Reads the problem in an object.
    /// - Parameter isPart: whether it is a subproblem, which has none of its own (RFC 8555 §6.7.1).
    init(_ object: JSONObject?, status: Int = 0, retrySeconds: Int64? = nil, isPart: Bool = false) {
        let type = object?.text("type") ?? ""
        kind = Self.printable(type.hasPrefix(Self.prefix) ? String(type.dropFirst(Self.prefix.count)) : type)
        detail = Self.printable(object?.text("detail") ?? "")
        self.status = status
        self.retrySeconds = retrySeconds
        let subproblems = isPart ? nil : object?["subproblems"]?.elements
        parts = (subproblems ?? []).prefix(10).compactMap { part in
            guard let part = JSONObject(part) else { return nil }
            let name = part["identifier"].flatMap { JSONObject($0) }?.text("value") ?? ""
            return Self.printable(name) + ": " + ACMEProblem(part, isPart: true).text
        }
    }

    /// Parses the value of Retry-After: seconds or a date. At most a week counts.
    static func seconds(in text: String, now: Timestamp) -> Int64? {
        let limit: Int64 = 7 * 86_400
        if let seconds = Int64(text) { return max(0, min(seconds, limit)) }
        let bytes = Array(text.utf8)
        return HTTPDate.parse(bytes.span, now: now).map { min($0.secondsRoundedUp(since: now), limit) }
    }

    /// A message for people.
    var text: String {
        var text = hint ?? (detail.isEmpty ? "the ACME server refuses the request" : detail)
        if hint != nil, !detail.isEmpty { text += ": \(detail)" }
        var notes = [kind].filter { !$0.isEmpty }
        if status != 0 { notes.append("status \(status)") }
        if !notes.isEmpty { text += " (\(notes.joined(separator: ", ")))" }
        return ([text] + parts).joined(separator: "; ")
    }

    /// What a frequent problem means.
    private var hint: String? {
        switch kind {
        case "rateLimited": "too many requests to the ACME server"
        case "externalAccountRequired": "the ACME server requires an external account"
        case "caa": "a CAA record does not permit the ACME server to issue the certificate"
        case "connection": "the ACME server cannot connect to this server"
        case "dns": "the ACME server cannot resolve the name"
        case "userActionRequired": "the ACME server requires an action of the user"
        default: nil
        }
    }

    private static func printable(_ text: String) -> String {
        String(decoding: text.utf8.prefix(textBytes).filter { 0x20...0x7E ~= $0 }, as: UTF8.self)
    }
}
#endif
