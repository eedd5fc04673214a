internal import DavitHTTP
internal import DavitSystem

/// Bytes in.
extension Connection {
    /// After a response that ends the connection, a peer that is still sending would lose it to a reset:
    /// so much is read and dropped first.
    private static let lingerBytes = 256 * 1024

    /// Receives into `input`, once.
    /// - Returns: false at the end.
    func receive(into input: InputBuffer) -> Bool {
        var isOpen = true
        unsafe input.fill { room in
            let input = unsafe receiveBytes(into: room)
            isOpen = note(input)
            if case .bytes(let count) = input.outcome { return count }
            return 0
        }
        return isOpen
    }

    /// Receives at most `limit` bytes into `buffer`, once.
    /// - Returns: how many; 0 if there are none at the moment.
    /// - Throws: ``HTTPError/disconnected`` at the end.
    func receive(into buffer: IOBuffer, limit: Int) throws(HTTPError) -> Int {
        var isOpen = true
        let count = unsafe buffer.fill { room in
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<min(limit, room.count)])
            let input = unsafe receiveBytes(into: target)
            isOpen = note(input)
            if case .bytes(let count) = input.outcome { return count }
            return 0
        }
        if !isOpen { throw .disconnected }
        return count
    }

    /// Ends sending, and waits a while for the peer to end too.
    nonisolated(nonsending) func linger() async {
        channel.sayEnd()
        do throws(HTTPError) { try await sendComposed() } catch { return }
        channel.shutDownWriting()
        let deadline = loop.now + server.deadlines.linger
        let sink = loop.memory.takeOutput()
        defer { loop.memory.give(sink) }
        var left = Self.lingerBytes
        while left > 0 {
            if !isReadable {
                guard await waitForInput(.end, until: deadline) == .ready else { return }
            }
            guard loop.now < deadline else { return }
            sink.removeAll()
            do throws(HTTPError) {
                left -= try receive(into: sink, limit: sink.capacity)
            } catch {
                return
            }
        }
    }

    /// Draws the conclusions of a receive call.
    /// - Returns: false at the end.
    private func note(_ input: Channel.Input) -> Bool {
        switch input.outcome {
        case .bytes(let count):
            bytesReceived += Int64(count)
            // The end, once announced, is not announced again.
            if input.isDrained && !hasEnded { isReadable = false }
            return true
        case .wouldBlock:
            isReadable = false
            return true
        case .ended, .failed:
            return false
        }
    }
}
