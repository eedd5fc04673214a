internal import DavitHTTP
internal import Synchronization

/// Writes the content of a response. May be shared between tasks; pieces are sent in the order of the calls.
public struct StreamWriter: Sendable {
    private let pipe: StreamPipe

    init(_ pipe: StreamPipe) { self.pipe = pipe }

    /// Writes bytes. Returns when they have been passed on for sending, so that a slow client makes the
    /// producer wait.
    /// - Throws: `CancellationError` if the client has disconnected.
    public func write(_ bytes: [UInt8]) async throws { try await pipe.write(bytes) }

    /// Writes text as UTF-8.
    /// - Throws: `CancellationError` if the client has disconnected.
    public func write(_ text: String) async throws { try await pipe.write(Array(text.utf8)) }
}

/// Passes pieces from the writing tasks to the sending task without buffering: each writer waits until its
/// piece has been taken.
final class StreamPipe: Sendable {
    private struct Piece {
        var rest: ArraySlice<UInt8>
        var writer: CheckedContinuation<Bool, Never>
    }

    private enum End { case open, complete, broken }

    private struct State {
        var pieces: [Piece] = []
        /// The sender, while it waits for a piece or the end.
        var reader: CheckedContinuation<Void, Never>?
        var end = End.open
        /// Whether the sender has stopped reading.
        var isAbandoned = false

        mutating func takeReader() -> CheckedContinuation<Void, Never>? {
            defer { reader = nil }
            return reader
        }
    }

    private let state = Mutex(State())

    func write(_ bytes: [UInt8]) async throws {
        if bytes.isEmpty { return }
        let wasTaken = await withCheckedContinuation { writer in
            let (reader, isRefused) = state.withLock { state in
                guard !state.isAbandoned, state.end == .open else {
                    return (CheckedContinuation<Void, Never>?.none, true)
                }
                state.pieces.append(Piece(rest: bytes[...], writer: writer))
                return (state.takeReader(), false)
            }
            reader?.resume()
            if isRefused { writer.resume(returning: false) }
        }
        if !wasTaken { throw CancellationError() }
    }

    /// Ends the pipe after the pieces already written. Only the first call has an effect.
    func finish(isComplete: Bool) {
        let reader = state.withLock { state in
            guard state.end == .open else { return CheckedContinuation<Void, Never>?.none }
            state.end = isComplete ? .complete : .broken
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Discards all pieces and refuses later ones. Called when the client has disconnected or the response
    /// has been released.
    func abandon() {
        let (pieces, reader) = state.withLock { state in
            state.isAbandoned = true
            defer { state.pieces = [] }
            return (state.pieces, state.takeReader())
        }
        for piece in pieces { piece.writer.resume(returning: false) }
        reader?.resume()
    }

    /// Appends at least one byte, or none at the end.
    /// - Throws: ``DavitHTTP/HTTPError/disconnected`` if the content cannot be completed.
    func read(into buffer: IOBuffer) async throws(HTTPError) {
        let before = buffer.count
        while true {
            let end = take(into: buffer)
            if buffer.count > before || end == .complete { return }
            if end == .broken { throw .disconnected }
            await waitForPiece()
        }
    }

    /// Takes as many bytes as fit into the buffer, and resumes the writers of completed pieces.
    private func take(into buffer: IOBuffer) -> End {
        let (writers, end) = state.withLock { state in
            var writers: [CheckedContinuation<Bool, Never>] = []
            while !state.pieces.isEmpty, buffer.freeCount > 0 {
                let taken = buffer.append(state.pieces[0].rest)
                state.pieces[0].rest.removeFirst(taken)
                if state.pieces[0].rest.isEmpty { writers.append(state.pieces.removeFirst().writer) }
            }
            return (writers, state.isAbandoned ? .broken : state.end)
        }
        for writer in writers { writer.resume(returning: true) }
        return end
    }

    private func waitForPiece() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (reader: CheckedContinuation<Void, Never>) in
                let mustWait = state.withLock { state in
                    guard state.pieces.isEmpty, state.end == .open, !state.isAbandoned else { return false }
                    state.reader = reader
                    return true
                }
                if !mustWait { reader.resume() }
            }
        } onCancel: {
            // The connection is closing.
            abandon()
        }
    }
}
