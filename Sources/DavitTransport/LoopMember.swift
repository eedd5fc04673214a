internal import DavitHTTP
internal import DavitSystem

/// What an event loop reports events to: a connection or a listening socket. Belongs to the loop's thread.
class LoopMember: TimerEntry {
    /// Given by the loop; names the member in events.
    final var token = MemberTable.noToken

    func eventArrived(_ event: Event) {}

    /// The server shuts down: end now, or as soon as what is in flight has ended.
    func drain() {}

    /// A connection ends now, or as soon as what is in flight has ended; what listens goes on.
    func dismiss() {}

    /// The time for that is over.
    func abort() {}

    /// Ends the request in flight, if there is one and `isRevoked` selects it.
    func endRequest(where isRevoked: (HTTPRequest) -> Bool) {}
}

/// The members of a loop, by token.
///
/// A token is a slot and the generation of its use, so that an event of a descriptor that was closed
/// meanwhile cannot reach the next user of its slot.
struct MemberTable {
    /// No member has it.
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

    /// The member with this token; nil if it is gone.
    func member(_ token: UInt64) -> LoopMember? {
        let index = Int(token & 0xFFFF_FFFF)
        guard index < slots.count else { return nil }
        let slot = slots[index]
        return UInt64(slot.generation) == token >> 32 ? slot.member : nil
    }

    var all: [LoopMember] { slots.compactMap(\.member) }
}
