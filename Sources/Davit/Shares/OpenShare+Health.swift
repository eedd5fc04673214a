internal import DavitEngine
internal import DavitFileStore
internal import DavitHTTP
internal import DavitJournal
internal import DavitMetrics
internal import DavitStore

/// The health and the statistics of all shares of a server. Calls block.
extension OpenShare {
    static func healthChecks(of shares: [OpenShare]) -> [HealthCheck] {
        func check(_ name: String, _ problem: (OpenShare) -> String?) -> HealthCheck {
            HealthCheck(name, problem: shares.lazy.compactMap(problem).first)
        }
        return [
            check("state-database") { $0.databaseProblem() },
            check("share-folder") { $0.folders.all.lazy.compactMap { $0.reader.problem() }.first },
            check("free-space") { share in
                do throws(StoreError) {
                    guard let free = try share.freeBytes() else { return nil }
                    return free > 0 ? nil : "less space is free than must remain free"
                } catch {
                    return "the free space cannot be determined"
                }
            },
        ]
    }

    /// The free space above the reserved space, on the volume that has least; nil if it cannot be determined, or if nothing can
    /// be written.
    static func freeBytes(of shares: [OpenShare]) -> Int64? {
        shares.compactMap { try? $0.freeBytes() }.min()
    }

    static func statistics(of shares: [OpenShare]) -> Share.Statistics {
        shares.reduce(into: Share.Statistics()) { $0 += $1.statistics }
    }

    static func journalBacklog(of shares: [OpenShare]) -> Int { shares.reduce(0) { $0 + $1.journalBacklog } }

    /// Read-only volumes, such as images of disks, have no free space, and need none.
    /// - Returns: nil if nothing can be written.
    private func freeBytes() throws(StoreError) -> Int64? {
        if isReadOnly { return nil }
        var least: Int64?
        for store in folders.all where try !store.isOnReadOnlyVolume() {
            let room = try store.room(at: .root)
            least = min(least ?? room, room)
        }
        return least
    }
}
