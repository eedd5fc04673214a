package import DavitHTTP
internal import Synchronization

/// The addresses that are refused for a time, because they had too many failed logins or an administrator banned them.
///
/// An address is an IPv4 address or the /64 network of an IPv6 address. Each further ban of an address lasts four times as
/// long. Loopback addresses, local sockets, trusted proxies and the networks of the safelist are never banned.
///
/// The list is in memory; changes are written to a store afterwards, in the background. Times are seconds since 1970, so that
/// bans remain after a restart.
package final class BanList: Sendable {
    /// When addresses are banned, and for how long.
    package struct Policy: Hashable, Sendable {
        /// The number of failed logins within ``windowSeconds`` that bans an address; nil for never.
        package var failures: Int?
        /// The duration of the first ban in seconds.
        package var firstSeconds: Int64

        package init(failures: Int? = nil, firstSeconds: Int64 = 600) {
            self.failures = failures
            self.firstSeconds = firstSeconds
        }

        /// The duration of a ban in seconds.
        /// - Parameter count: the number of bans, including this one.
        package func seconds(ofBan count: Int) -> Int64 {
            let factor: Int64 = 1 << Int64(2 * min(max(0, count - 1), 15))
            let (seconds, isTooLong) = firstSeconds.multipliedReportingOverflow(by: factor)
            return max(firstSeconds, isTooLong ? BanList.limitSeconds : min(seconds, BanList.limitSeconds))
        }
    }

    /// Why an address cannot be banned, or a ban cannot be lifted.
    package enum Problem: Error, Hashable, Sendable {
        case notAnAddress
        /// The address is never banned.
        case exempt
        case notBanned

        package var text: String {
            switch self {
            case .notAnAddress:
                "not an IPv4 address, an IPv6 address or an IPv6 /64 network, such as 192.0.2.7 or 2001:db8::/64"
            case .exempt: "this address is never banned"
            case .notBanned: "this address is not banned"
            }
        }
    }

    /// Something to log.
    package enum Report: Hashable, Sendable {
        case banned(Ban, seconds: Int64)
        case lifted(network: String)
        /// The bans could not be read or written, and are lost at the next restart unless a later attempt succeeds.
        case failed(reason: String)
    }

    /// The number of banned addresses, and of bans since the server was created.
    package struct Load: Hashable, Sendable {
        package var active = 0
        package var total: UInt64 = 0
    }

    private struct State {
        var bans: [PeerNetwork: Ban] = [:]
        /// The networks whose bans differ from the store.
        var unsaved: Set<PeerNetwork> = []
        var failures = BoundedCache<PeerNetwork, Failures>(limit: failureLimit)
        var total: UInt64 = 0
        /// When outdated bans are removed next.
        var nextPruning: Int64 = 0
        var onBan: (@Sendable () -> Void)?
    }

    private struct Failures: Sendable {
        var count = 0
        /// The time of the first failure of the window.
        var start: Int64
    }

    /// The maximum number of stored bans; those that end first are removed.
    package static let limit = 10_000
    /// The maximum number of addresses whose failed logins are counted.
    package static let failureLimit = 8192
    /// The time in which failed logins are counted, in seconds.
    package static let windowSeconds: Int64 = 3600
    /// The maximum duration of a ban that follows from the policy, in seconds.
    package static let limitSeconds: Int64 = 7 * 86_400
    /// How long a ban that has ended makes the next one longer, in seconds.
    package static let memorySeconds: Int64 = 30 * 86_400
    private static let pruningSeconds: Int64 = 60

    private let policy: Policy
    private let exempt: [IPNetwork]
    private let store: (any BanStore)?
    private let limit: Int
    private let background: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let report: @Sendable (Report) -> Void
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())
    /// Held while bans are written, so that the store follows the order of changes.
    private let writing = Mutex(())
    /// Whether there is a ban that may not have ended, so that checks are cheap without bans.
    private let hasBans = Atomic<Bool>(false)

    /// Reads the store. Blocks.
    /// - Parameters:
    ///   - exempt: the networks that are never banned, in addition to loopback addresses.
    ///   - store: nil to keep the bans only in memory.
    ///   - background: runs work that writes to the store on a thread that may block; returns false if that is impossible.
    ///   - report: called without the lock of this object; must not block.
    ///   - now: returns the seconds since 1970.
    package init(
        _ policy: Policy = Policy(), exempt: [IPNetwork] = [], store: (any BanStore)? = nil,
        limit: Int = BanList.limit,
        background: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = { _ in false },
        report: @escaping @Sendable (Report) -> Void = { _ in }, now: @escaping @Sendable () -> Int64
    ) {
        self.policy = policy
        self.exempt = exempt
        self.store = store
        self.limit = max(1, limit)
        self.background = background
        self.report = report
        self.now = now
        if let store { read(store) }
    }

    private func read(_ store: any BanStore) {
        let stored: [Ban]
        do throws(BanStoreError) { stored = try store.bans() } catch {
            return report(.failed(reason: error.reason))
        }
        let now = now()
        state.withLock { state in
            for var ban in stored {
                guard let (network, address) = Self.parse(ban.network), !isExempt(address) else { continue }
                // If the clock was set back, a ban must not last longer than any that can be imposed.
                ban.until = min(ban.until, now + max(Self.limitSeconds, ban.until - ban.since))
                state.bans[network] = ban
            }
        }
        updateFlag()
    }

    // MARK: Checks

    /// Whether an address is banned. Costs one atomic load if no address is.
    package func isBanned(_ address: IPAddress?) -> Bool {
        guard hasBans.load(ordering: .relaxed), let address else { return false }
        let now = now()
        return state.withLock { ($0.bans[PeerNetwork(of: address)]?.until ?? .min) > now }
    }

    /// Like ``isBanned(_:)-(IPAddress?)``, for the text of an address with an optional zone.
    package func isBanned(peer: @autoclosure () -> String) -> Bool {
        guard hasBans.load(ordering: .relaxed) else { return false }
        return isBanned(Self.address(of: peer()))
    }

    /// The current numbers. O(n).
    package var load: Load {
        let now = now()
        return state.withLock { state in
            Load(active: state.bans.values.count { $0.until > now }, total: state.total)
        }
    }

    /// The bans that have not ended, those that end first in front.
    package var active: [Ban] {
        let now = now()
        return state.withLock { $0.bans.values.filter { $0.until > now } }
            .sorted { ($0.until, $0.network) < ($1.until, $1.network) }
    }

    // MARK: Changes

    /// Sets a function that is called after each ban, without the lock of this object; must not block.
    package func onBan(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onBan = action } }

    /// Counts a failed login, and bans the address if it has too many.
    /// - Parameter peer: the text of an address with an optional zone.
    package func recordFailure(of peer: String) {
        guard let failures = policy.failures, let address = Self.address(of: peer), !isExempt(address) else {
            return
        }
        let network = PeerNetwork(of: address)
        let now = now()
        let isOver = state.withLock { state in
            var record = state.failures[network] ?? Failures(start: now)
            if now - record.start >= Self.windowSeconds || now < record.start {
                record = Failures(start: now)
            }
            record.count += 1
            if record.count < failures {
                state.failures.set(record, for: network)
                return false
            }
            state.failures.remove(network)
            return true
        }
        if isOver { ban(network, PeerNetwork.text(of: peer), .failedLogins, seconds: nil) }
    }

    /// Bans an address for a time, in place of a ban that it may have.
    /// - Parameter text: an address, or an IPv6 /64 network.
    package func ban(_ text: String, seconds: Int64) throws(Problem) -> Ban {
        guard let (network, address) = Self.parse(text) else { throw .notAnAddress }
        guard !isExempt(address) else { throw .exempt }
        return ban(network, PeerNetwork.text(of: address.text), .command, seconds: max(1, seconds))
    }

    /// Lifts a ban. The next ban of the address is its first one.
    /// - Parameter text: an address, or an IPv6 /64 network.
    package func lift(_ text: String) throws(Problem) -> Ban {
        guard let (network, _) = Self.parse(text) else { throw .notAnAddress }
        let now = now()
        let lifted = state.withLock { state -> Ban? in
            guard let ban = state.bans[network], ban.until > now else { return nil }
            state.bans[network] = nil
            state.unsaved.insert(network)
            return ban
        }
        guard let lifted else { throw .notBanned }
        updateFlag()
        report(.lifted(network: lifted.network))
        saveLater()
        return lifted
    }

    /// - Parameter seconds: the duration; nil for that of the policy.
    @discardableResult
    private func ban(
        _ network: PeerNetwork, _ text: String, _ reason: Ban.Reason, seconds: Int64?
    ) -> Ban {
        let now = now()
        let (ban, duration, onBan) = state.withLock { state in
            var count = 1
            if let last = state.bans[network], now - last.until < Self.memorySeconds {
                count = last.count + 1
            }
            let duration = seconds ?? policy.seconds(ofBan: count)
            let ban = Ban(network: text, count: count, since: now, until: now + duration, reason: reason)
            if state.bans[network] == nil, state.bans.count >= limit { evict(&state) }
            state.bans[network] = ban
            state.unsaved.insert(network)
            state.total += 1
            return (ban, duration, state.onBan)
        }
        hasBans.store(true, ordering: .relaxed)
        report(.banned(ban, seconds: duration))
        onBan?()
        saveLater()
        return ban
    }

    /// Removes the ban that ends first. O(n).
    private func evict(_ state: inout State) {
        guard let first = state.bans.min(by: { $0.value.until < $1.value.until })?.key else { return }
        state.bans[first] = nil
        state.unsaved.insert(first)
    }

    private func isExempt(_ address: IPAddress) -> Bool {
        // A ban of another address in ::/64, none of which is in use, would be one of ::1.
        if address.isIPv4 ? address.low >> 24 == 127 : address.high == 0 { return true }
        // A ban concerns a whole /64 network, so an address in it is sufficient.
        return exempt.contains { exempt in
            exempt.contains(address) || PeerNetwork(of: exempt.address) == PeerNetwork(of: address)
        }
    }

    private func updateFlag() {
        let now = now()
        // With the lock, so that a ban that is added at the same time is not missed.
        state.withLock { state in
            hasBans.store(state.bans.values.contains { $0.until > now }, ordering: .relaxed)
        }
    }

    // MARK: Storage

    private func saveLater() {
        if store != nil { _ = background { _ = self.save() } }
    }

    /// Removes outdated bans, and writes the changes that are not in the store yet. Blocks. A failure is reported, and the
    /// next call repeats the attempt.
    package func performMaintenance() {
        prune()
        save()
    }

    private func prune() {
        let now = now()
        let isDue = state.withLock { state in
            guard now >= state.nextPruning || state.nextPruning > now + Self.pruningSeconds else {
                return false
            }
            state.nextPruning = now + Self.pruningSeconds
            for (network, ban) in state.bans where now - ban.until >= Self.memorySeconds {
                state.bans[network] = nil
                state.unsaved.insert(network)
            }
            return true
        }
        if isDue { updateFlag() }
    }

    /// Writes the changes that are not in the store yet. Blocks.
    /// - Returns: false if this failed, which is also reported; the next call repeats the attempt.
    @discardableResult
    package func save() -> Bool {
        guard let store else { return true }
        return writing.withLock { _ in
            let (unsaved, bans, removed) = state.withLock { state in
                let unsaved = state.unsaved
                state.unsaved = []
                let bans = unsaved.compactMap { state.bans[$0] }
                return (unsaved, bans, unsaved.filter { state.bans[$0] == nil }.map(\.text))
            }
            if unsaved.isEmpty { return true }
            do throws(BanStoreError) {
                try store.commit(bans, removing: removed)
                return true
            } catch {
                state.withLock { $0.unsaved.formUnion(unsaved) }
                report(.failed(reason: error.reason))
                return false
            }
        }
    }

    // MARK: Addresses

    private static func address(of peer: String) -> IPAddress? {
        IPAddress(String(peer.prefix { $0 != "%" }))
    }

    /// Parses an address, or an IPv6 /64 network.
    private static func parse(_ text: String) -> (PeerNetwork, IPAddress)? {
        let isNetwork = text.hasSuffix("/64")
        let address = IPAddress(isNetwork ? String(text.dropLast(3)) : text)
        guard let address, !isNetwork || !address.isIPv4 else { return nil }
        return (PeerNetwork(of: address), address)
    }
}
