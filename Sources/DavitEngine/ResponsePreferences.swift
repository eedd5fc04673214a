internal import DavitHTTP
internal import DavitServer

/// How a client would like to be answered: `Prefer` (RFC 7240, RFC 8144), and `Brief: t`, which Microsoft's clients send
/// for `return=minimal`.
struct ResponsePreferences: Sendable {
    private let preferences: Preferences
    private let isBrief: Bool
    private let varies: (prefer: Bool, brief: Bool)

    /// Costs nothing for a request without either field.
    init(_ request: HTTPRequest) {
        varies = (request.contains(.prefer), request.contains(.brief))
        preferences = varies.prefer ? Preferences(of: request) : Preferences()
        isBrief = varies.brief && (request.withValue(of: .brief) { $0.equalsIgnoringCase("t") } ?? false)
    }

    /// Nothing that the client can know without it.
    var isMinimal: Bool { preferences.result == .minimal || isBrief && preferences.result == nil }
    /// What the resource is after the change.
    var wantsRepresentation: Bool { preferences.result == .representation }
    /// The members of the collection, and not the collection.
    var excludesRoot: Bool { preferences.excludesRoot }

    /// Says which preferences the response follows (RFC 7240 §3), and that it depends on them (§2).
    ///
    /// - Parameters:
    ///   - result: it is what ``isMinimal``, or ``wantsRepresentation``, asks for.
    ///   - root: it is what ``excludesRoot`` asks for.
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
