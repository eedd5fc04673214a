internal import DavitHTTP

/// A state of a share as clients keep it (RFC 6578 §3.2): a URI that nobody but the server reads.
///
/// It says up to which change its holder knows everything. While a first synchronisation is under way, which comes in the
/// order of the changes, too, it also says from which removals on its holder has to be told: what was gone before the
/// first part was never seen.
public struct SyncToken: Hashable, Sendable {
    /// Names the journal: hexadecimal digits.
    public var journal: String
    /// Changes up to this number are known.
    public var number: Int64
    /// Removals up to this number are of no interest; at least ``number``.
    public var base: Int64

    /// - Parameter base: nil where it is `number`.
    public init(journal: String, number: Int64, base: Int64? = nil) {
        self.journal = journal
        self.number = number
        self.base = max(base ?? number, number)
    }

    /// Everything up to a position.
    public init(_ position: JournalPosition) {
        self.init(journal: position.journal, number: position.last)
    }

    /// Its holder knows everything up to ``number``, and no first synchronisation is under way.
    public var isWhole: Bool { base == number }

    private static let prefix = "data:,davit-sync-"

    /// The URI, safe in XML as it is.
    public var text: String {
        Self.prefix + journal + "-\(number)" + (base == number ? "" : "-\(base)")
    }

    /// Nil for everything that is not the text of a token.
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
        self.init(journal: String(parts[0]), number: number, base: base)
        // One spelling for each: `+1` and `01` are numbers, too.
        guard number >= 0, self.text == text else { return nil }
    }

    /// Whether the journal can say all that happened since (RFC 6578 §3.2, `valid-sync-token`).
    public func isValid(at position: JournalPosition) -> Bool {
        journal == position.journal && base <= position.last && base >= position.forgotten
    }
}
