package import DavitSystem
internal import Synchronization

/// Answers other `davit` commands on this machine, through a socket in the state folder.
///
/// It has a thread of its own and shares nothing with the threads that serve HTTP. One connection at a time: who
/// connects is the owner of the folder, or root, and the others wait.
package final class ControlServer: Sendable {
    /// The socket's name in the state folder.
    package static let fileName = "control.sock"

    private struct State {
        var isStopping = false
        /// The socket of the connection that is being served.
        var connection: Int32?
    }

    private let listener: LocalListener
    private let queue: SystemEventQueue
    private let patienceSeconds: Int
    private let answer: @Sendable (_ request: ControlRequest, _ user: UInt32) -> ControlAnswer
    private let state = Mutex(State())
    private let ended = Latch(count: 1)

    /// Begins to answer.
    ///
    /// - Parameters:
    ///   - folder: the state folder, whose lock the caller holds: a socket file that is there is a dead server's.
    ///   - patienceSeconds: how long a request may take to arrive.
    ///   - answer: gets who asks, too; runs on the thread of this object; may block.
    package init(
        folder: String, patienceSeconds: Int = 5,
        answer: @escaping @Sendable (_ request: ControlRequest, _ user: UInt32) -> ControlAnswer
    ) throws(SystemError) {
        queue = try SystemEventQueue()
        listener = try LocalListener(folder: folder, name: Self.fileName)
        self.patienceSeconds = patienceSeconds
        self.answer = answer
        do throws(SystemError) {
            try queue.watchAccepting(listener.number, token: 0)
            try Thread.start(named: "davit-control") { self.run() }
        } catch {
            listener.removeName()
            throw error
        }
    }

    /// Removes the socket, cuts the connection that is being served, and returns when the thread has ended.
    /// May be called more than once; not by the closure that answers.
    package func stop() {
        listener.removeName()
        state.withLock { state in
            state.isStopping = true
            if let connection = state.connection { Socket.shutDown(connection) }
        }
        queue.wake()
        ended.wait()
    }

    // MARK: The thread

    private var isStopping: Bool { state.withLock { $0.isStopping } }

    private func run() {
        while !isStopping {
            _ = queue.wait(milliseconds: -1)
            do throws(SystemError) {
                while !isStopping, let connection = try listener.accept() { serve(connection) }
            } catch {
                pause()
            }
        }
        // The name is gone. Who connected before that and still waits is let go.
        while let connection = try? listener.accept() { _ = consume connection }
        ended.countDown()
    }

    /// No descriptor is left: looks again in a second, or when it is to stop.
    private func pause() {
        queue.unwatch(listener.number)
        _ = queue.wait(milliseconds: 1000)
        // Fails for want of memory only; then nobody is answered any more, and HTTP goes on.
        try? queue.watchAccepting(listener.number, token: 0)
    }

    private func serve(_ connection: borrowing LocalConnection) {
        let number = connection.number
        let isWanted = state.withLock { state in
            if !state.isStopping { state.connection = number }
            return !state.isStopping
        }
        guard isWanted else { return }
        // Before it is closed: the number could be somebody else's then.
        defer { state.withLock { $0.connection = nil } }
        // A peer that is gone is told nothing.
        do { try connection.send(try reply(to: connection).bytes) } catch {}
    }

    private func reply(to connection: borrowing LocalConnection) throws(SystemError) -> ControlAnswer {
        try connection.setPatience(seconds: patienceSeconds)
        guard let user = connection.peerUser, Self.mayAsk(user, own: LocalConnection.ownUser) else {
            return .refused(reason: "the server belongs to another user")
        }
        do throws(ControlRequest.Refusal) {
            guard let request = try receive(from: connection) else {
                return .refused(reason: "the request did not arrive in time")
            }
            return answer(request, user)
        } catch {
            return .refused(reason: error.rawValue)
        }
    }

    /// Nil if it does not come, or too slowly.
    private func receive(
        from connection: borrowing LocalConnection
    ) throws(ControlRequest.Refusal) -> ControlRequest? {
        let deadline = Clock.now() + Int64(patienceSeconds) * 1_000_000_000
        var received: [UInt8] = []
        while Clock.now() < deadline {
            guard let bytes = try? connection.receive(), !bytes.isEmpty else { return nil }
            received += bytes
            if let request = try ControlRequest.parse(received) { return request }
        }
        return nil
    }

    /// The user the server acts as, and root, who could do without asking.
    package static func mayAsk(_ peer: UInt32?, own: UInt32) -> Bool { peer == own || peer == 0 }
}
