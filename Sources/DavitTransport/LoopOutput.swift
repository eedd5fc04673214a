internal import DavitHTTP

/// The output buffer of a loop: responses of one connection that have not been sent yet.
///
/// Several responses to pipelined requests are sent in one call. The buffer belongs to the loop: its content
/// is sent before another connection claims it, and at the end of each job.
final class LoopOutput {
    /// Responses are collected up to this size.
    private static let gatherLimit = 64 * 1024

    let buffer = IOBuffer(capacity: 256 * 1024)
    @safe @exclusivity(unchecked) private var owner: Connection?

    var isOwned: Bool { owner != nil }

    /// Whether no further response should be added.
    var isFull: Bool { buffer.count >= Self.gatherLimit }

    /// Makes `connection` the owner of the buffer; sends the output of the previous owner first.
    func claim(for connection: Connection) {
        if owner === connection { return }
        flush()
        owner = connection
    }

    func isOwned(by connection: Connection) -> Bool { owner === connection }

    /// Returns the current position in the output of `connection`, to which the output can be rolled back.
    func mark(of connection: Connection) -> Int {
        claim(for: connection)
        return buffer.count
    }

    /// Discards the output that was appended after `mark`.
    func goBack(to mark: Int) { buffer.truncate(to: mark) }

    /// Sends the buffered output; the connection keeps the bytes that its channel does not accept.
    /// - Parameter isFollowed: whether the owner sends more bytes immediately afterwards.
    func flush(isFollowed: Bool = false) {
        guard let connection = owner else { return }
        owner = nil
        connection.send(composed: buffer, isFollowed: isFollowed)
        buffer.removeAll()
    }

    /// Discards the output if `connection` owns it.
    func discard(of connection: Connection) {
        guard owner === connection else { return }
        owner = nil
        buffer.removeAll()
    }
}
