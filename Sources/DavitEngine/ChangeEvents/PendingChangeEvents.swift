internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// The pending events of a reader, with only the last change of each name, and at most ``nameLimit`` names of
/// ``limitBytes`` in total.
struct PendingChangeEvents: Sendable {
    /// The maximum number of pending names; a reader that is too slow is reset instead.
    static let nameLimit = 1_024
    /// The maximum total size in bytes of the hrefs of pending names, with the same effect.
    static let limitBytes = 128 << 10

    private struct Change: Sendable {
        var number: Int64
        var exists: Bool
        var isCollection: Bool
    }

    /// The changes by href. Only the href of a watched collection itself ends in a slash.
    private var changes: [[UInt8]: Change] = [:]
    private var locked: Set<[UInt8]> = []
    private var gone: [[UInt8]] = []
    /// The total size of the hrefs in ``changes`` and ``locked``.
    private var byteCount = 0
    private var isReset = false
    /// Whether to send a keep-alive message.
    var isBeat = false

    var isEmpty: Bool { changes.isEmpty && locked.isEmpty && gone.isEmpty && !isReset && !isBeat }

    mutating func record(_ change: ResourceChange, in scope: ChangeEventScope) {
        if isReset { return }
        let href = scope.href(of: change.path)
        let known = changes[href]
        if let known, known.number >= change.number { return }
        changes[href] = Change(
            number: change.number, exists: change.kind != .removed, isCollection: change.isCollection)
        if known == nil { count(href, changes.count) }
    }

    mutating func record(locksOf href: [UInt8]) {
        if locked.insert(href).inserted { count(href, locked.count) }
    }

    /// Counts a name that was added.
    /// - Parameter names: the number of names of its kind.
    private mutating func count(_ href: [UInt8], _ names: Int) {
        byteCount += href.count
        if names > Self.nameLimit || byteCount > Self.limitBytes { reset() }
    }

    mutating func record(gone scope: ChangeEventScope) { gone.append(scope.href) }

    /// Replaces the pending changes and lock events with an event that makes the client reload.
    mutating func reset() {
        isReset = true
        changes = [:]
        locked = []
        byteCount = 0
    }

    /// Encodes the pending events, in the order in which the client must process them.
    ///
    /// - Parameters:
    ///   - scopes: the collections that are still watched.
    ///   - token: the state of the client after these events.
    ///   - isNew: whether the token differs from the last one sent.
    func events(watching scopes: [ChangeEventScope], knowing token: SyncToken, isNew: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        if !gone.isEmpty { bytes += Self.event("gone", Self.lines(gone)) }
        if isReset {
            bytes += Self.event("reset", Self.lines(scopes.map(\.href)), id: token)
        } else if !changes.isEmpty {
            bytes += Self.event("change", changeLines, id: token)
        }
        if !locked.isEmpty { bytes += Self.event("locks", Self.lines(locked.sorted(by: Self.isBefore))) }
        if isReset || !changes.isEmpty { return bytes }
        // An id without data is not dispatched as an event; the browser stores it for reconnecting.
        bytes += isNew ? Array("id: \(token.text)\n\n".utf8) : isBeat ? Array(":\n\n".utf8) : []
        return bytes
    }

    /// The changes in chronological order, which matters to case-insensitive clients: to them, two of the names can be
    /// equal.
    private var changeLines: String {
        var lines: [UInt8] = []
        for (href, change) in changes.sorted(by: { $0.value.number < $1.value.number }) {
            if !lines.isEmpty { lines.append(10) }
            lines.append(change.exists ? UInt8(ascii: "+") : UInt8(ascii: "-"))
            lines.append(UInt8(ascii: " "))
            lines += href
            if change.isCollection { lines.append(UInt8(ascii: "/")) }
        }
        return String(decoding: lines, as: UTF8.self)
    }

    private static func isBefore(_ a: [UInt8], _ b: [UInt8]) -> Bool { a.lexicographicallyPrecedes(b) }

    private static func lines(_ hrefs: [[UInt8]]) -> String {
        String(decoding: Array(hrefs.joined(separator: [10])), as: UTF8.self)
    }

    /// - Parameter data: the content; not empty, because clients ignore events without data.
    private static func event(_ name: String, _ data: String, id: SyncToken? = nil) -> [UInt8] {
        EventWriter.encode(data, event: name, id: id?.text, retry: nil)
    }
}
