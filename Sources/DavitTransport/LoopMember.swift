internal import DavitHTTP
internal import DavitSystem

/// A receiver of events of a loop: a connection or a listening socket. Belongs to the loop's thread.
class LoopMember: TimerEntry {
    /// Identifies the member in events; assigned by the loop.
    final var token = MemberTable.noToken

    func eventArrived(_ event: IOEvent) {}

    /// Ends the member, now or after the request in flight, because the server is shutting down.
    func drain() {}

    /// Closes a connection, now or after the request in flight; listeners are not affected.
    func dismiss() {}

    /// Aborts a connection immediately, for example at the end of the grace period; listeners are not
    /// affected.
    func abort() {}

    /// Aborts a connection immediately if `isRevoked` selects the address of its peer; listeners are not affected.
    func abort(where isRevoked: (NetworkAddress) -> Bool) {}

    /// Aborts the request in flight, if any, if `isRevoked` selects it.
    func endRequest(where isRevoked: (HTTPRequest) -> Bool) {}
}

/// The members of a loop, by token.
///
/// A token consists of a slot and its generation, so that a late event for a closed descriptor cannot reach
/// the next user of the slot.
struct MemberTable {
    /// A token that no member has.
    static let noToken = UInt64.max

    private struct Slot {
        var member: LoopMember?
        var generation: UInt32 = 0
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []
    private(set) var count = 0

    mutating func insert(_ member: LoopMember) {
        let index: UInt32
        if let reused = free.popLast() {
            index = reused
        } else {
            index = UInt32(slots.count)
            slots.append(Slot())
        }
        slots[Int(index)].member = member
        member.token = UInt64(slots[Int(index)].generation) << 32 | UInt64(index)
        count += 1
    }

    mutating func remove(_ member: LoopMember) {
        let index = Int(member.token & 0xFFFF_FFFF)
        guard index < slots.count, slots[index].member === member else { return }
        slots[index].member = nil
        slots[index].generation &+= 1
        free.append(UInt32(index))
        member.token = Self.noToken
        count -= 1
    }

    /// Returns the member with this token; nil if it was removed.
    func member(_ token: UInt64) -> LoopMember? {
        let index = Int(token & 0xFFFF_FFFF)
        guard index < slots.count else { return nil }
        let slot = slots[index]
        return UInt64(slot.generation) == token >> 32 ? slot.member : nil
    }

    var all: [LoopMember] { slots.compactMap(\.member) }
}
