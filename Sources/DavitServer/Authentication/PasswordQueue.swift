/// The queue of passwords waiting to be hashed.
///
/// Entries with the highest ``ClientTrust`` are served first. At equal trust, accounts take turns, and within
/// an account, networks take turns, so that a client that sends many passwords delays mainly itself. Every
/// fourth turn may serve a lower level of trust, to prevent starvation.
///
/// Adding and removing one entry is linear in the number of waiting passwords, which ``total`` limits; a hash
/// takes about a thousand times longer.
package struct PasswordQueue<Waiter: Sendable>: Sendable {
    /// The trust in the sender of a password, highest first.
    package enum ClientTrust: Int, Comparable, Sendable {
        /// The address has logged in to the account before, and has not failed recently.
        case proven
        /// Nothing is known, or the address has both logged in to the account and failed recently.
        case unknown
        /// The address has sent a wrong password recently, and has not logged in to the account.
        case failed

        package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    /// A waiting password. Accounts, addresses and networks are hash values.
    package struct Entry: Sendable {
        /// Increases with each entry.
        package let ticket: UInt64
        package let account: Int
        package let address: Int
        /// The network that contains the address; see ``PeerNetwork/surrounding``.
        package let network: Int
        package let waiter: Waiter

        package init(ticket: UInt64, account: Int, address: Int, network: Int, waiter: Waiter) {
            self.ticket = ticket
            self.account = account
            self.address = address
            self.network = network
            self.waiter = waiter
        }
    }

    /// The result of adding an entry.
    package enum Admission: Sendable {
        case waiting
        /// The entry was queued, and the associated entry was removed from the full queue.
        case displaced(Entry)
        /// Too many passwords for the same account from the same address, or from the same address in total,
        /// are waiting.
        case lineFull
        /// The queue is full, and the new entry has the lowest priority.
        case full
    }

    /// Maximum number of waiting passwords per account and address. Equal passwords count once.
    package static var perLine: Int { 4 }
    /// Maximum number of waiting passwords per address.
    package static var perAddress: Int { 64 }
    /// Maximum number of waiting passwords.
    package static var total: Int { 256 }
    /// One turn in this many may serve a level of trust other than the highest.
    private static var turnsOfBest: UInt64 { 4 }

    private struct Line: Hashable, Sendable {
        var account: Int
        var network: Int
    }

    /// The entries in order of arrival.
    private var entries: [Entry] = []
    /// When each waiting account was last served, or first queued.
    private var accountTimes: [Int: UInt64] = [:]
    /// When each network of an account was last served, or first queued.
    private var lineTimes: [Line: UInt64] = [:]
    private var time: UInt64 = 0
    private var turns: UInt64 = 0

    package init() {}

    package var count: Int { entries.count }

    /// Adds an entry.
    /// - Parameter standing: returns the current trust in the sender of an entry.
    package mutating func append(_ entry: Entry, standing: (Entry) -> ClientTrust) -> Admission {
        let ofAddress = entries.filter { $0.address == entry.address }
        guard ofAddress.count < Self.perAddress,
            ofAddress.count(where: { $0.account == entry.account }) < Self.perLine
        else { return .lineFull }
        guard entries.count >= Self.total else {
            insert(entry)
            return .waiting
        }
        let last = leastEntitled(of: entries + [entry], standing)
        guard last.ticket != entry.ticket, let displaced = remove(ticket: last.ticket) else { return .full }
        insert(entry)
        return .displaced(displaced)
    }

    /// Removes and returns the entry whose turn it is; nil if the queue is empty.
    package mutating func removeNext(standing: (Entry) -> ClientTrust) -> Entry? {
        let standings = entries.map(standing)
        guard let best = standings.min() else { return nil }
        turns += 1
        var served = best
        if turns % Self.turnsOfBest == 0 {
            let waiting = Set(standings).sorted()
            served = waiting[Int(turns / Self.turnsOfBest % UInt64(waiting.count))]
        }
        let candidates = entries.indices.filter { standings[$0] == served }
        guard let next = candidates.min(by: { order(of: entries[$0]) < order(of: entries[$1]) }) else {
            return nil
        }
        let entry = entries[next]
        time += 1
        accountTimes[entry.account] = time
        lineTimes[Line(account: entry.account, network: entry.network)] = time
        remove(at: next)
        return entry
    }

    /// Removes and returns the entry with this ticket, if it is still waiting.
    package mutating func remove(ticket: UInt64) -> Entry? {
        guard let index = entries.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return remove(at: index)
    }

    /// Removes and returns all entries for which `isOver` returns true.
    package mutating func removeAll(where isOver: (Entry) -> Bool) -> [Entry] {
        let removed = entries.filter(isOver)
        for entry in removed { _ = remove(ticket: entry.ticket) }
        return removed
    }

    private mutating func insert(_ entry: Entry) {
        time += 1
        let line = Line(account: entry.account, network: entry.network)
        // A new account or network takes its turn after those already waiting.
        accountTimes[entry.account] = accountTimes[entry.account] ?? time
        lineTimes[line] = lineTimes[line] ?? time
        entries.append(entry)
    }

    @discardableResult
    private mutating func remove(at index: Int) -> Entry {
        let entry = entries.remove(at: index)
        if !entries.contains(where: { $0.account == entry.account }) { accountTimes[entry.account] = nil }
        if !entries.contains(where: { $0.account == entry.account && $0.network == entry.network }) {
            lineTimes[Line(account: entry.account, network: entry.network)] = nil
        }
        return entry
    }

    private func order(of entry: Entry) -> (UInt64, UInt64, UInt64) {
        let line = Line(account: entry.account, network: entry.network)
        return (accountTimes[entry.account] ?? 0, lineTimes[line] ?? 0, entry.ticket)
    }

    /// Returns the entry to drop: among those with the lowest trust, the newest entry from the account with
    /// the most entries and, within that account, from the network with the most entries.
    private func leastEntitled(of all: [Entry], _ standing: (Entry) -> ClientTrust) -> Entry {
        let standings = all.map(standing)
        let worst = standings.max()
        let candidates = all.indices.filter { standings[$0] == worst }.map { all[$0] }
        var ofAccount: [Int: Int] = [:]
        var ofLine: [Line: Int] = [:]
        for entry in candidates {
            ofAccount[entry.account, default: 0] += 1
            ofLine[Line(account: entry.account, network: entry.network), default: 0] += 1
        }
        func claim(_ entry: Entry) -> (Int, Int, UInt64) {
            let line = Line(account: entry.account, network: entry.network)
            return (ofAccount[entry.account] ?? 0, ofLine[line] ?? 0, entry.ticket)
        }
        return candidates.max { claim($0) < claim($1) } ?? all[all.endIndex - 1]
    }
}
