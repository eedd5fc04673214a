internal import DavitHTTP

/// Responses that were composed and not yet sent, all of one connection.
///
/// Several answers to pipelined requests go out in one call. The memory is the loop's: another connection
/// that wants it, and the end of each job, send what is there first.
final class LoopOutput {
    /// Answers are gathered up to this size.
    private static let gatherLimit = 64 * 1024

    let buffer = IOBuffer(capacity: 256 * 1024)
    @safe @exclusivity(unchecked) private var owner: Connection?

    var isOwned: Bool { owner != nil }

    /// True if no further answer should be gathered.
    var isFull: Bool { buffer.count >= Self.gatherLimit }

    /// Makes `connection` the one whose bytes are in the buffer.
    func claim(for connection: Connection) {
        if owner === connection { return }
        flush()
        owner = connection
    }

    func isOwned(by connection: Connection) -> Bool { owner === connection }

    /// How much `connection` has composed, to come back to.
    func mark(of connection: Connection) -> Int {
        claim(for: connection)
        return buffer.count
    }

    /// Drops what its owner has composed since.
    func goBack(to mark: Int) { buffer.count = mark }

    /// Sends what is there; what the socket does not take moves to its connection.
    /// - Parameter isFollowed: its owner sends more at once.
    func flush(isFollowed: Bool = false) {
        guard let connection = owner else { return }
        owner = nil
        connection.send(composed: buffer, isFollowed: isFollowed)
        buffer.removeAll()
    }

    /// Drops what is there.
    func discard(of connection: Connection) {
        guard owner === connection else { return }
        owner = nil
        buffer.removeAll()
    }
}
