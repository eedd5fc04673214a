internal import DavitHTTP
internal import Synchronization

/// Writes the content of a response. Can be handed to other tasks; their pieces go out in the order of the calls.
public struct StreamWriter: Sendable {
    private let pipe: StreamPipe

    init(_ pipe: StreamPipe) { self.pipe = pipe }

    /// Returns when the bytes are on their way: a slow client makes the producer wait.
    /// - Throws: `CancellationError` if the client is gone.
    public func write(_ bytes: [UInt8]) async throws { try await pipe.write(bytes) }

    /// As UTF-8.
    /// - Throws: `CancellationError` if the client is gone.
    public func write(_ text: String) async throws { try await pipe.write(Array(text.utf8)) }
}

/// Hands pieces from the tasks that write to the one that sends, without a queue: each writer waits until its piece is
/// taken.
final class StreamPipe: Sendable {
    private struct Piece {
        var rest: ArraySlice<UInt8>
        var writer: CheckedContinuation<Bool, Never>
    }

    private enum End { case open, complete, broken }

    private struct State {
        var pieces: [Piece] = []
        /// The sender, waiting for a piece or the end.
        var reader: CheckedContinuation<Void, Never>?
        var end = End.open
        /// Nobody reads any more.
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

    /// What was written before is still read. The first call counts.
    func finish(isComplete: Bool) {
        let reader = state.withLock { state in
            guard state.end == .open else { return CheckedContinuation<Void, Never>?.none }
            state.end = isComplete ? .complete : .broken
            return state.takeReader()
        }
        reader?.resume()
    }

    /// The client is gone.
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
    /// - Throws: ``DavitHTTP/HTTPError/disconnected`` where the content cannot be finished.
    func read(into buffer: IOBuffer) async throws(HTTPError) {
        let before = buffer.count
        while true {
            let end = take(into: buffer)
            if buffer.count > before || end == .complete { return }
            if end == .broken { throw .disconnected }
            await waitForPiece()
        }
    }

    /// Takes as many pieces as fit.
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
