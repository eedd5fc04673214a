internal import DavitHTTP

/// The state of a share that a client has synchronized to (RFC 6578 §3.2): a URI that is opaque to clients.
///
/// The token contains the number of the last change that the client knows. An initial synchronization also
/// proceeds in the order of changes; while it is in progress, the token also contains the number after which
/// removals must be reported, since earlier removals precede everything the client has received.
public struct SyncToken: Hashable, Sendable {
    /// Identifies the journal: hexadecimal digits.
    public var journal: String
    /// The client knows all changes up to this number.
    public var number: Int64
    /// Removals up to this number need not be reported; at least ``number``.
    public var base: Int64
    /// Identifies the rights of the client; nil if clients have no different rights. A token with other rights than those
    /// that the client has now is not valid.
    public var view: UInt64?

    /// - Parameter base: nil if equal to `number`.
    public init(journal: String, number: Int64, base: Int64? = nil, view: UInt64? = nil) {
        self.journal = journal
        self.view = view
        self.number = number
        self.base = max(base ?? number, number)
    }

    /// Creates a token for a client that knows everything up to `position`.
    public init(_ position: JournalPosition, view: UInt64? = nil) {
        self.init(journal: position.journal, number: position.last, view: view)
    }

    /// Whether the client knows everything up to ``number``, and no initial synchronization is in progress.
    public var isWhole: Bool { base == number }

    private static let prefix = "data:,davit-sync-"

    /// The token as a URI that needs no escaping in XML.
    public var text: String {
        Self.prefix + journal + (view.map { "." + String($0, radix: 16) } ?? "") + "-\(number)"
            + (base == number ? "" : "-\(base)")
    }

    /// Parses a token; nil if `text` is not one.
    public init?(parsing text: String) {
        guard text.utf8.count < 128, text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, let number = Int64(parts[1]) else { return nil }
        let base: Int64?
        if parts.count == 3 {
            base = Int64(parts[2])
            if base == nil { return nil }
        } else {
            base = nil
        }
        let ids = parts[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let view = ids.count == 2 ? UInt64(ids[1], radix: 16) : nil
        if ids.count == 2, view == nil { return nil }
        self.init(journal: String(ids[0]), number: number, base: base, view: view)
        // Accept the canonical spelling only: `+1` and `01` also parse as numbers.
        guard number >= 0, self.text == text else { return nil }
    }

    /// Whether the journal can report all changes since the token (RFC 6578 §3.2, `valid-sync-token`).
    public func isValid(at position: JournalPosition) -> Bool {
        journal == position.journal && base <= position.last && base >= position.forgotten
    }
}
