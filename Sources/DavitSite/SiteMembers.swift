internal import DavitHTTP
internal import DavitListing
internal import DavitServer
internal import DavitStore

/// Reads the members of a folder that the site shows.
///
/// Owned by one task, which passes it to one pool job at a time and waits for that job.
final class SiteMembers: MemberPages, Sendable {
    private let site: Site
    private let path: ResourcePath
    private let work: any BlockingWorkRunner
    /// Nil before the first use.
    private let listing = Exclusive<MemberListing?>(nil)

    /// - Parameter path: the canonical path of the folder.
    init(of path: ResourcePath, in site: Site, work: any BlockingWorkRunner) {
        self.site = site
        self.path = path
        self.work = work
    }

    func next() async throws(HTTPError) -> [Member] {
        let result = await work.run { () -> Result<[Member], StoreError> in
            do throws(StoreError) { return .success(try self.nextNow()) } catch { return .failure(error) }
        }
        guard let result else { throw .tooBusy }
        do throws(StoreError) { return try result.get() } catch { throw HTTPError(reading: error) }
    }

    func work<T: Sendable>(_ body: @escaping @Sendable () -> T) async throws(HTTPError) -> T {
        guard let result = await work.run(body) else { throw .tooBusy }
        return result
    }

    private func nextNow() throws(StoreError) -> [Member] {
        try listing.withValue { listing throws(StoreError) in
            let opened = if let listing { listing } else { try MemberListing(of: path, in: site.resources) }
            listing = opened
            while true {
                let members = try opened.next()
                let shown = members.filter { site.shows($0) }
                // An empty result means the end, so skip batches without visible members.
                if members.isEmpty || !shown.isEmpty { return shown }
            }
        }
    }
}
