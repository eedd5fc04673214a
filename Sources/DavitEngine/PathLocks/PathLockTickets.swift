/// The tickets of the requests for one path, or for paths below it.
///
/// Tickets only increase, so a new one is appended and any other is found by binary search. A ticket occurs
/// once for each of its requests.
struct PathLockTickets {
    private var shared: [UInt64] = []
    private var exclusive: [UInt64] = []

    var isEmpty: Bool { shared.isEmpty && exclusive.isEmpty }

    /// - Parameter ticket: Not smaller than any other.
    mutating func add(_ ticket: UInt64, _ mode: PathLockRequest.Mode) {
        switch mode {
        case .shared: shared.append(ticket)
        case .exclusive: exclusive.append(ticket)
        }
    }

    mutating func remove(_ ticket: UInt64, _ mode: PathLockRequest.Mode) {
        switch mode {
        case .shared: Self.remove(ticket, from: &shared)
        case .exclusive: Self.remove(ticket, from: &exclusive)
        }
    }

    /// Returns the latest ticket before `ticket` that is incompatible with `mode`; 0 if there is none.
    func latestConflict(before ticket: UInt64, with mode: PathLockRequest.Mode) -> UInt64 {
        let latest = Self.latest(before: ticket, in: exclusive)
        return mode == .shared ? latest : max(latest, Self.latest(before: ticket, in: shared))
    }

    private static func latest(before ticket: UInt64, in tickets: [UInt64]) -> UInt64 {
        let index = firstIndex(notBefore: ticket, in: tickets)
        return index == 0 ? 0 : tickets[index - 1]
    }

    private static func remove(_ ticket: UInt64, from tickets: inout [UInt64]) {
        let index = firstIndex(notBefore: ticket, in: tickets)
        if index < tickets.count, tickets[index] == ticket { tickets.remove(at: index) }
    }

    private static func firstIndex(notBefore ticket: UInt64, in tickets: [UInt64]) -> Int {
        var range = tickets.startIndex..<tickets.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if tickets[middle] < ticket {
                range = (middle + 1)..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }
}
