import DavitSystem
import Testing

@Suite(.timeLimit(.minutes(15)))
struct EventQueueTests {
    /// The two ends of a connection.
    struct Pair: ~Copyable {
        let near: FileDescriptor
        let far: FileDescriptor
    }

    static func pair() throws -> Pair {
        let listener = try Socket.listen(on: .ipv4Loopback(port: 0), backlog: 1)
        let address = try Socket.localAddress(of: listener.rawValue)
        let near = try Socket.connect(to: address)
        let queue = try SystemEventQueue()
        try queue.watchAccepting(listener.rawValue, token: 1)
        _ = queue.wait(milliseconds: -1)
        guard case .accepted(let far, _) = Socket.accept(from: listener.rawValue) else {
            throw SystemError(errno: 0, call: "accept")
        }
        return Pair(near: near, far: far)
    }

    static func send(_ text: String, on socket: borrowing FileDescriptor) {
        _ = unsafe Array(text.utf8).withUnsafeBytes { unsafe Socket.send(socket.rawValue, $0) }
    }

    @Test func changeIsReportedOnce() throws {
        let pair = try Self.pair()
        let queue = try SystemEventQueue()
        try queue.watch(pair.far.rawValue, token: 42)
        #expect(queue.wait(milliseconds: -1) == 1)
        #expect(queue.event(at: 0).isWritable)
        #expect(!queue.event(at: 0).isReadable)
        Self.send("x", on: pair.near)
        #expect(queue.wait(milliseconds: -1) == 1)
        #expect(queue.event(at: 0).token == 42)
        #expect(queue.event(at: 0).isReadable)
        #expect(queue.wait(milliseconds: 0) == 0)
    }

    @Test func endOfThePeerIsReported() throws {
        let pair = try Self.pair()
        let queue = try SystemEventQueue()
        try queue.watch(pair.far.rawValue, token: 42)
        Socket.shutDownWriting(pair.near.rawValue)
        var hasEnded = false
        while !hasEnded {
            for index in 0..<queue.wait(milliseconds: -1) {
                hasEnded = hasEnded || queue.event(at: index).hasEnded
                #expect(!queue.event(at: index).isBroken)
            }
        }
    }

    @Test func wakeEndsTheNextWait() throws {
        let queue = try SystemEventQueue()
        for _ in 0..<3 {
            queue.wake()
            #expect(queue.wait(milliseconds: -1) == 1)
            #expect(queue.event(at: 0).token == EventToken.wake)
            #expect(queue.wait(milliseconds: 0) == 0)
        }
    }
}
