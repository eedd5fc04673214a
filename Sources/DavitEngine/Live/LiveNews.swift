internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// What one reader has not been told yet: of each name the last change alone, and of no more names than are kept.
struct LiveNews: Sendable {
    /// Names that wait for a slow reader; over it he has to look for himself.
    static let nameLimit = 1_024

    private struct Change: Sendable {
        var number: Int64
        var isThere: Bool
        var isCollection: Bool
    }

    /// By href, without a slash at the end.
    private var changes: [[UInt8]: Change] = [:]
    private var locked: Set<[UInt8]> = []
    private var gone: [[UInt8]] = []
    private var isReset = false
    /// Something is to be sent, so that it shows that both are still there.
    var isBeat = false

    var isEmpty: Bool { changes.isEmpty && locked.isEmpty && gone.isEmpty && !isReset && !isBeat }

    mutating func note(_ change: ResourceChange, in scope: LiveScope) {
        if isReset { return }
        let href = scope.href(of: change.path)
        if let known = changes[href], known.number >= change.number { return }
        changes[href] = Change(
            number: change.number, isThere: change.kind != .removed, isCollection: change.isCollection)
        if changes.count > Self.nameLimit { reset() }
    }

    mutating func note(locksOf href: [UInt8]) {
        locked.insert(href)
        if locked.count > Self.nameLimit { reset() }
    }

    mutating func note(gone scope: LiveScope) { gone.append(scope.href) }

    /// What there is cannot be told any more.
    mutating func reset() {
        isReset = true
        changes = [:]
        locked = []
    }

    /// The events, in the order in which they are to be taken.
    /// - Parameters:
    ///   - scopes: all that are still watched.
    ///   - token: what the reader knows with them.
    ///   - isNew: whether he has been told another one before.
    func events(watching scopes: [LiveScope], knowing token: SyncToken, isNew: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        if !gone.isEmpty { bytes += Self.event("gone", Self.lines(gone)) }
        if isReset {
            bytes += Self.event("reset", Self.lines(scopes.map(\.href)), id: token)
        } else if !changes.isEmpty {
            bytes += Self.event("change", changeLines, id: token)
        }
        if !locked.isEmpty { bytes += Self.event("locks", Self.lines(locked.sorted(by: Self.isBefore))) }
        if isReset || !changes.isEmpty { return bytes }
        // An id without data is no event: the browser keeps it for when it connects again.
        bytes += isNew ? Array("id: \(token.text)\n\n".utf8) : isBeat ? Array(":\n\n".utf8) : []
        return bytes
    }

    /// In the order in which they happened: to some clients two names are one.
    private var changeLines: String {
        var lines: [UInt8] = []
        for (href, change) in changes.sorted(by: { $0.value.number < $1.value.number }) {
            if !lines.isEmpty { lines.append(10) }
            lines.append(change.isThere ? UInt8(ascii: "+") : UInt8(ascii: "-"))
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

    /// - Parameter data: not empty: without data there is no event.
    private static func event(_ name: String, _ data: String, id: SyncToken? = nil) -> [UInt8] {
        EventWriter.encode(data, event: name, id: id?.text, retry: nil)
    }
}
