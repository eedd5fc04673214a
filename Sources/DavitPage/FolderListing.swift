public import DavitEngine
public import DavitHTTP
package import DavitStore

/// Answers GET on a collection with a page of its members.
public struct FolderListing: CollectionPage {
    private let queries = FolderQueries()

    public init() {}

    public func response(to visit: CollectionVisit) async throws(HTTPError) -> HTTPResponse {
        if let response = try await queries.response(to: visit) { return response }
        let page = ListingPage(
            segments: visit.path.segments.map { Array($0) }, endsInSlash: visit.endsInSlash,
            mountName: visit.mountName)
        return try await Self.response(page, visit.members())
    }

    public func archive(
        of members: [[UInt8]], _ visit: CollectionVisit
    ) async throws(HTTPError) -> HTTPResponse? {
        try await queries.archive(of: members, visit)
    }

    package static func response(
        _ page: ListingPage, _ members: any MemberPages
    ) async throws(HTTPError) -> HTTPResponse {
        // Before the head is out: what cannot be read at all has a status.
        let first = try await members.next()
        var response = HTTPResponse(.ok, body: .stream(ListingStream(page, members, first: first)))
        ListingPage.appendFields(to: &response.fields)
        return response
    }
}

/// The members of a collection, some at a time. Used by one task at a time.
package protocol MemberPages: AnyObject {
    /// The next members, in the order of the volume; empty at the end.
    func next() async throws(HTTPError) -> [Member]
    /// Does on another thread what takes long.
    func work<T: Sendable>(_ body: @escaping @Sendable () -> T) async throws(HTTPError) -> T
}

extension MemberReader: MemberPages {}

/// Writes the page while the collection is read: sorted where it has a size that people read, else in the
/// order of the volume, so that memory stays flat.
private final class ListingStream: BodyStream {
    /// Entries that are held back to be sorted.
    private static let sortedLimit = 10_000

    private enum Phase { case beginning, gathering, passing, ended }

    private let page: ListingPage
    private let members: any MemberPages
    /// Read already, and not yet taken.
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
            // By itself, so that a browser shows something while the rest is read.
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

    /// Not on the event loop: of as many names it takes longer than others should wait.
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
