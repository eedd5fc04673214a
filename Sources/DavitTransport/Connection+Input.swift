internal import DavitHTTP
internal import DavitSystem

/// Receives bytes.
extension Connection {
    /// Receives available bytes and appends them to `input`.
    /// - Returns: false at the end of the stream.
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

    /// Receives at most `limit` available bytes and appends them to `buffer`.
    /// - Returns: the number of bytes received; 0 if none are available.
    /// - Throws: ``HTTPError/disconnected`` at the end of the stream.
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

    /// Closes the sending side and discards input until the peer closes too, sends nothing for
    /// ``TransportConfiguration/Deadlines/linger``, or has sent for ``TransportConfiguration/Deadlines/window``.
    ///
    /// Closing with unread input would reset the connection (RFC 9112 §9.6). A peer that only reads after it
    /// has sent all content would then lose the response.
    nonisolated(nonsending) func linger() async {
        channel.sendCloseNotify()
        do throws(HTTPError) { try await sendComposed() } catch { return }
        channel.shutDownWriting()
        let start = loop.now
        let sink = loop.memory.takeOutput()
        defer { loop.memory.give(sink) }
        while true {
            // A server that stops does not wait for a long upload.
            let end = start + (isEnding ? server.deadlines.linger : server.deadlines.window)
            if !isReadable {
                let wake = await waitForInput(.end, until: min(end, loop.now + server.deadlines.linger))
                guard wake == .ready else { return }
            }
            guard loop.now < end else { return }
            sink.removeAll()
            do throws(HTTPError) {
                await giveTurn(after: try receive(into: sink, limit: sink.capacity))
            } catch {
                return
            }
        }
    }

    /// Updates the state of the connection after a receive call.
    /// - Returns: false at the end of the stream.
    private func note(_ input: Channel.Input) -> Bool {
        switch input.outcome {
        case .bytes(let count):
            bytesReceived += Int64(count)
            // The end of the stream is reported only once, so leave `isReadable` set until the end has been
            // read.
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
