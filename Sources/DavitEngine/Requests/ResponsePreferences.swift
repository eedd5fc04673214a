internal import DavitHTTP
internal import DavitServer

/// The response preferences of a client: `Prefer` (RFC 7240, RFC 8144), and `Brief: t`, which Microsoft
/// clients send for `return=minimal`.
struct ResponsePreferences: Sendable {
    private let preferences: Preferences
    private let isBrief: Bool
    private let varies: (prefer: Bool, brief: Bool)

    /// Parses nothing if the request has neither field.
    init(_ request: HTTPRequest) {
        varies = (request.contains(.prefer), request.contains(.brief))
        preferences = varies.prefer ? Preferences(of: request) : Preferences()
        isBrief =
            varies.brief && (request.withValue(of: .brief) { $0.equalsIgnoringCase("t") } ?? false)
    }

    /// Whether the client requests a minimal response.
    var isMinimal: Bool { preferences.result == .minimal || isBrief && preferences.result == nil }
    /// Whether the client requests the new representation of the resource after a change.
    var wantsRepresentation: Bool { preferences.result == .representation }
    /// Whether the client requests the members of a collection without the collection itself.
    var excludesRoot: Bool { preferences.excludesRoot }

    /// Adds a field that lists the applied preferences (RFC 7240 §3), and adds the request fields to `Vary`
    /// (§2).
    ///
    /// - Parameters:
    ///   - result: whether the response follows ``isMinimal`` or ``wantsRepresentation``.
    ///   - root: whether the response follows ``excludesRoot``.
    func append(to fields: inout HTTPFields, result: Bool = false, root: Bool = false) {
        guard varies.prefer || varies.brief else { return }
        var applied: [String] = []
        if result, preferences.result == .minimal { applied.append("return=minimal") }
        if result, wantsRepresentation { applied.append("return=representation") }
        if root, excludesRoot { applied.append("depth-noroot") }
        if !applied.isEmpty {
            fields.append(named: "Preference-Applied", applied.joined(separator: ", "))
        }
        if varies.prefer { fields.vary(on: .prefer) }
        if varies.brief { fields.vary(on: .brief) }
    }
}
