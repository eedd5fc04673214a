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

/// Writes the listing while reading the collection. Up to `sortedLimit` entries are sorted; larger collections
/// are written in directory order, so that memory use is bounded.
private final class ListingStream<Format: ListingFormat>: BodyStream {
    /// The maximum number of entries that are buffered and sorted.
    private static var sortedLimit: Int { 10_000 }

    private let format: Format
    private let members: any MemberPages
    /// Members that were read before the head was sent.
    private var first: [Member]?
    private var phase = ListingPhase.beginning
    private var isEmpty = true
    private var ready: ArraySlice<UInt8> = []

    init(_ format: Format, _ members: any MemberPages, first: [Member]) {
        self.format = format
        self.members = members
        self.first = first
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        while ready.isEmpty && phase != .ended { ready = try await more()[...] }
        let taken = buffer.append(Array(ready.prefix(buffer.freeCount)))
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
            let (entries, outcome) = await gather()
            for entry in entries { append(entry, to: &bytes) }
            try finish(outcome, &bytes)
        case .passing:
            let outcome = await read { append($0, to: &bytes) }
            try finish(outcome, &bytes)
        case .ended: break
        }
        return bytes
    }

    private func append(_ entry: ListingEntry, to bytes: inout [UInt8]) {
        format.append(entry, isFirst: isEmpty, to: &bytes)
        isEmpty = false
    }

    private func gather() async -> ([ListingEntry], ListingReading) {
        var entries: [ListingEntry] = []
        while entries.count <= Self.sortedLimit {
            let outcome = await read { entries.append($0) }
            if outcome != .goesOn { return await sorted(entries, outcome) }
        }
        return (entries, .goesOn)
    }

    /// Sorts on another thread, because sorting would block the event loop for too long.
    private func sorted(
        _ entries: [ListingEntry], _ outcome: ListingReading
    ) async -> ([ListingEntry], ListingReading) {
        do throws(HTTPError) {
            return (try await members.work { entries.sorted(by: ListingEntry.precedes) }, outcome)
        } catch {
            return (entries, .failed)
        }
    }

    private func read(_ take: (ListingEntry) -> Void) async -> ListingReading {
        do throws(HTTPError) {
            let next: [Member]
            if let first {
                next = first
                self.first = nil
            } else {
                next = try await members.next()
            }
            for member in next {
                take(
                    ListingEntry(
                        name: member.name, isCollection: member.info.isCollection, length: member.info.length,
                        modified: member.info.modified))
            }
            return next.isEmpty ? .ended : .goesOn
        } catch {
            return .failed
        }
    }

    private func finish(_ outcome: ListingReading, _ bytes: inout [UInt8]) throws(HTTPError) {
        switch outcome {
        case .goesOn: phase = .passing
        case .ended:
            format.appendFoot(isEmpty: isEmpty, to: &bytes)
            phase = .ended
        case .failed:
            guard format.appendFootOfIncomplete(to: &bytes) else { throw .disconnected }
            phase = .ended
        }
    }
}

/// The part of a listing that is written next.
private enum ListingPhase { case beginning, gathering, passing, ended }

/// The result of reading members.
private enum ListingReading { case goesOn, ended, failed }
