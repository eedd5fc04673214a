package import DavitHTTP
package import DavitStore

extension ListingPage {
    /// Returns a response that streams the page with these members.
    /// - Throws: any error from reading the first members.
    package func response(_ members: any MemberPages) async throws(HTTPError) -> HTTPResponse {
        // Read before sending the head, so that a failure still gets a status.
        let first = try await members.next()
        var response = HTTPResponse(status: .ok, body: .stream(ListingStream(self, members, first: first)))
        Self.appendFields(to: &response.fields)
        return response
    }
}

/// Reads the members of a collection in batches. Used by one task at a time.
package protocol MemberPages: AnyObject {
    /// Returns the next members, in directory order; empty at the end.
    func next() async throws(HTTPError) -> [Member]
    /// Runs expensive work on another thread.
    func work<T: Sendable>(_ body: @escaping @Sendable () -> T) async throws(HTTPError) -> T
}

/// Writes the page while reading the collection. Up to `sortedLimit` entries are sorted; larger collections
/// are written in directory order, so that memory use is bounded.
private final class ListingStream: BodyStream {
    /// The maximum number of entries that are buffered and sorted.
    private static let sortedLimit = 10_000

    private enum Phase { case beginning, gathering, passing, ended }

    private let page: ListingPage
    private let members: any MemberPages
    /// Members that were read before the head was sent.
    private var first: [Member]?
    private var phase = Phase.beginning
    private var ready: ArraySlice<UInt8> = []

    init(_ page: ListingPage, _ members: any MemberPages, first: [Member]) {
        self.page = page
        self.members = members
        self.first = first
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        while ready.isEmpty && phase != .ended { ready = await more()[...] }
        let taken = buffer.append(Array(ready.prefix(buffer.freeCount)))
        ready = ready.dropFirst(taken)
    }

    private func more() async -> [UInt8] {
        var bytes: [UInt8] = []
        switch phase {
        case .beginning:
            // Send the head separately, so that the browser shows something while the collection is read.
            page.appendHead(to: &bytes)
            phase = .gathering
        case .gathering:
            let (entries, outcome) = await gather()
            for entry in entries { page.append(entry, to: &bytes) }
            finish(outcome, isEmpty: entries.isEmpty, &bytes)
        case .passing:
            let outcome = await read { page.append($0, to: &bytes) }
            finish(outcome, isEmpty: false, &bytes)
        case .ended: break
        }
        return bytes
    }

    private enum Outcome { case goesOn, ended, failed }

    private func gather() async -> ([ListingEntry], Outcome) {
        var entries: [ListingEntry] = []
        while entries.count <= Self.sortedLimit {
            let outcome = await read { entries.append($0) }
            if outcome != .goesOn { return await sorted(entries, outcome) }
        }
        return (entries, .goesOn)
    }

    /// Sorts on another thread, because sorting would block the event loop for too long.
    private func sorted(
        _ entries: [ListingEntry], _ outcome: Outcome
    ) async -> ([ListingEntry], Outcome) {
        do throws(HTTPError) {
            return (try await members.work { entries.sorted(by: ListingEntry.precedes) }, outcome)
        } catch {
            return (entries, .failed)
        }
    }

    private func read(_ take: (ListingEntry) -> Void) async -> Outcome {
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

    private func finish(_ outcome: Outcome, isEmpty: Bool, _ bytes: inout [UInt8]) {
        switch outcome {
        case .goesOn: phase = .passing
        case .ended, .failed:
            page.appendFoot(isEmpty: isEmpty, isComplete: outcome == .ended, to: &bytes)
            phase = .ended
        }
    }
}
