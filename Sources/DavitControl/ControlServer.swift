package import DavitSystem
internal import Synchronization

/// Serves requests from other `davit` commands on this machine, through a socket in the state folder.
///
/// Requests are handled on a separate thread, not on the threads that serve HTTP, and one connection at a
/// time; other connections wait. This is acceptable, because clients of users other than the server's user
/// and root are refused immediately.
package final class ControlServer: Sendable {
    /// The name of the socket in the state folder.
    package static let fileName = "control.sock"

    private struct State {
        var isStopping = false
        /// The socket of the current connection.
        var connection: Int32?
    }

    private let listener: LocalListener
    private let queue: SystemEventQueue
    private let timeoutSeconds: Int
    private let answer: @Sendable (_ request: ControlRequest, _ user: UInt32) -> ControlResponse
    private let state = Mutex(State())
    private let ended = Latch(count: 1)

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - folder: the state folder. The caller holds its lock, so an existing socket belongs to a terminated
    ///     server.
    ///   - timeoutSeconds: how long a request can take to arrive.
    ///   - answer: handles a request from the user with the ID `user`; called on the thread of this object; can
    ///     block.
    package init(
        folder: String, timeoutSeconds: Int = 5,
        answer: @escaping @Sendable (_ request: ControlRequest, _ user: UInt32) -> ControlResponse
    ) throws(SystemError) {
        queue = try SystemEventQueue()
        listener = try LocalListener(folder: folder, name: Self.fileName)
        self.timeoutSeconds = timeoutSeconds
        self.answer = answer
        do throws(SystemError) {
            try queue.watchAccepting(listener.number, token: 0)
            try SystemThread.start(named: "davit-control") { self.run() }
        } catch {
            listener.removeName()
            throw error
        }
    }

    /// Removes the socket, shuts down the current connection, and returns when the thread has ended. Can be
    /// called more than once, but not by the `answer` closure.
    package func stop() {
        listener.removeName()
        state.withLock { state in
            state.isStopping = true
            if let connection = state.connection { Socket.shutDown(connection) }
        }
        queue.wake()
        ended.wait()
    }

    // MARK: Thread

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
        // The socket has been removed. Close the connections that are still waiting.
        while let connection = try? listener.accept() { _ = consume connection }
        ended.countDown()
    }

    /// Waits for a second, or until the server stops. Called when a connection cannot be accepted, for example
    /// because there are no more descriptors.
    private func pause() {
        queue.unwatch(listener.number)
        _ = queue.wait(milliseconds: 1000)
        // If this fails, for example because memory is exhausted, later requests are not answered; HTTP is
        // not affected.
        try? queue.watchAccepting(listener.number, token: 0)
    }

    private func serve(_ connection: borrowing LocalConnection) {
        let number = connection.number
        let isWanted = state.withLock { state in
            if !state.isStopping { state.connection = number }
            return !state.isStopping
        }
        guard isWanted else { return }
        // Clear `state.connection` before the descriptor is closed, because its number can be reused.
        defer { state.withLock { $0.connection = nil } }
        // Ignore errors: the peer has disconnected, or does not read the response in time.
        do { try connection.send(try reply(to: connection).bytes) } catch {}
    }

    private func reply(to connection: borrowing LocalConnection) throws(SystemError) -> ControlResponse {
        try connection.setTimeout(seconds: timeoutSeconds)
        guard let user = connection.peerUser, Self.mayAsk(user, own: LocalConnection.ownUser) else {
            return .refused(reason: "the server runs as another user")
        }
        do throws(ControlRequest.Refusal) {
            guard let request = try receive(from: connection) else {
                return .refused(reason: "timed out waiting for the request")
            }
            return answer(request, user)
        } catch {
            return .refused(reason: error.rawValue)
        }
    }

    /// Receives a request. Returns nil if it does not arrive in time or the connection fails.
    private func receive(
        from connection: borrowing LocalConnection
    ) throws(ControlRequest.Refusal) -> ControlRequest? {
        let deadline = Clock.now() + Int64(timeoutSeconds) * 1_000_000_000
        var received: [UInt8] = []
        while Clock.now() < deadline {
            guard let bytes = try? connection.receive(), !bytes.isEmpty else { return nil }
            received += bytes
            if let request = try ControlRequest.parse(received) { return request }
        }
        return nil
    }

    /// Whether the peer can send requests: it must run as the server's user, or as root, which has access
    /// anyway.
    package static func mayAsk(_ peer: UInt32?, own: UInt32) -> Bool { peer == own || peer == 0 }
}
