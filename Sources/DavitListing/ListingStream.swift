package import DavitHTTP
package import DavitStore

/// The format of a listing that is written in pieces: head, entries, foot.
package protocol ListingFormat: Sendable {
    /// Adds the header fields of the response.
    static func appendFields(to fields: inout HTTPFields)
    /// Writes everything before the first entry.
    func appendHead(to buffer: inout [UInt8])
    func append(_ entry: ListingEntry, isFirst: Bool, to buffer: inout [UInt8])
    /// Writes everything after the last entry.
    /// - Parameter isEmpty: whether no entry was written.
    func appendFoot(isEmpty: Bool, to buffer: inout [UInt8])
    /// Writes the foot of a listing that could not be completed.
    /// - Returns: false if the format cannot express this; the connection is then aborted.
    func appendFootOfIncomplete(to buffer: inout [UInt8]) -> Bool
}

extension ListingFormat {
    /// Returns a response that streams the listing of these members.
    /// - Throws: any error from reading the first members.
    package func response(_ members: any MemberPages) async throws(HTTPError) -> HTTPResponse {
        // Read before sending the head, so that a failure still gets a status.
        let first = try await members.next()
        var response = HTTPResponse(status: .ok, body: .stream(ListingStream(self, members, first: first)))
        Self.appendFields(to: &response.fields)
        return response
    }
}

extension ListingPage: ListingFormat {
    package func append(_ entry: ListingEntry, isFirst: Bool, to buffer: inout [UInt8]) {
        append(entry, to: &buffer)
    }

    package func appendFoot(isEmpty: Bool, to buffer: inout [UInt8]) {
        appendFoot(isEmpty: isEmpty, isComplete: true, to: &buffer)
    }

    package func appendFootOfIncomplete(to buffer: inout [UInt8]) -> Bool {
        appendFoot(isEmpty: false, isComplete: false, to: &buffer)
        return true
    }
}

/// Reads the members of a collection in batches. Used by one task at a time.
package protocol MemberPages: AnyObject {
    /// Returns the next members, in directory order; empty at the end.
    func next() async throws(HTTPError) -> [Member]
    /// Runs expensive work on another thread.
    func work<T: Sendable>(_ body: @escaping @Sendable () -> T) async throws(HTTPError) -> T
}

/// Writes the listing while reading the collection. Up to ``ListingLimits/sortedEntries`` entries are sorted; larger
/// collections are written in directory order, so that memory use is bounded.
private final class ListingStream<Format: ListingFormat>: BodyStream {
    private let format: Format
    private let members: any MemberPages
    /// Members that were read before the head was sent.
    private var first: [Member]?
    private var phase = ListingPhase.beginning
    private var isEmpty = true
    /// The entries to be written next, of which ``writtenCount`` have been written.
    private var entries = ListingEntries()
    private var writtenCount = 0
    /// Whether there are members after ``entries``.
    private var outcome = ListingReading.goesOn
    private var entry = ListingEntry(
        name: [], isCollection: false, length: 0, modified: Timestamp(seconds: 0))
    private var ready: ArraySlice<UInt8> = []

    init(_ format: Format, _ members: any MemberPages, first: [Member]) {
        self.format = format
        self.members = members
        self.first = first
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        while ready.isEmpty && phase != .ended { ready = try await more()[...] }
        let taken = unsafe ready.withUnsafeBytes { unsafe buffer.append($0) }
        ready = ready.dropFirst(taken)
    }

    private func more() async throws(HTTPError) -> [UInt8] {
        var bytes: [UInt8] = []
        switch phase {
        case .beginning:
            // Send the head separately, so that the browser shows something while the collection is read.
            format.appendHead(to: &bytes)
            phase = .gathering
        case .gathering:
            await gather()
            phase = .passing
            try write(&bytes)
        case .passing:
            if writtenCount == entries.count {
                (entries, writtenCount) = (ListingEntries(), 0)
                await read()
            }
            try write(&bytes)
        case .ended: break
        }
        return bytes
    }

    /// Writes the next entries, and the foot after the last one. Few of them are rendered at a time, because the text is
    /// larger than the entries.
    private func write(_ bytes: inout [UInt8]) throws(HTTPError) {
        while writtenCount < entries.count, bytes.count < ListingLimits.pieceBytes {
            entries.copy(writtenCount, to: &entry)
            format.append(entry, isFirst: isEmpty, to: &bytes)
            isEmpty = false
            writtenCount += 1
        }
        if writtenCount == entries.count { try finish(&bytes) }
    }

    private func gather() async {
        while entries.count <= ListingLimits.sortedEntries, entries.nameBytes <= ListingLimits.sortedBytes {
            await read()
            if outcome != .goesOn { return await sort() }
        }
    }

    /// Sorts on another thread, because sorting would block the event loop for too long.
    private func sort() async {
        do throws(HTTPError) {
            entries = try await members.work { [entries] in
                var sorted = entries
                sorted.sort()
                return sorted
            }
        } catch {
            outcome = .failed
        }
    }

    /// Reads the next members.
    private func read() async {
        do throws(HTTPError) {
            let next: [Member]
            if let first {
                next = first
                self.first = nil
            } else {
                next = try await members.next()
            }
            for member in next { entries.append(member) }
            if next.isEmpty { outcome = .ended }
        } catch {
            outcome = .failed
        }
    }

    private func finish(_ bytes: inout [UInt8]) throws(HTTPError) {
        switch outcome {
        case .goesOn: return
        case .ended: format.appendFoot(isEmpty: isEmpty, to: &bytes)
        case .failed: guard format.appendFootOfIncomplete(to: &bytes) else { throw .disconnected }
        }
        phase = .ended
        entries = ListingEntries()
    }
}

/// Limits on the memory of a listing.
package enum ListingLimits {
    /// The maximum number of entries that are kept to be sorted.
    package static let sortedEntries = 10_000
    /// The maximum total size of their names in bytes.
    package static let sortedBytes = 1 << 20
    /// The size in bytes from which rendered text is sent before further entries are rendered.
    package static let pieceBytes = 64 << 10
}

/// The part of a listing that is written next.
private enum ListingPhase { case beginning, gathering, passing, ended }

/// The result of reading members.
private enum ListingReading { case goesOn, ended, failed }
