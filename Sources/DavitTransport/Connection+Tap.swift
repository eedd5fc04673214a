internal import DavitSystem

/// Wrappers of channel calls that also report the transferred bytes to the tap.
extension Connection {
    func receiveBytes(into buffer: UnsafeMutableRawBufferPointer) -> Channel.Input {
        let input = unsafe channel.receive(into: buffer)
        if let tap, case .bytes(let count) = input.outcome {
            unsafe tap.received(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        return input
    }

    /// - Parameter isFollowed: whether the caller sends more bytes immediately afterwards.
    func sendBytes(_ bytes: UnsafeRawBufferPointer, isFollowed: Bool) -> Socket.Outcome {
        let outcome = unsafe channel.send(bytes, isFollowed: isFollowed)
        if let tap, case .bytes(let count) = outcome {
            unsafe tap.sent(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
        return outcome
    }

    func sendBytes(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Socket.Outcome {
        let outcome = unsafe channel.send(first, second)
        if let tap, case .bytes(let count) = outcome {
            let ofFirst = min(count, first.count)
            unsafe tap.sent(UnsafeRawBufferPointer(rebasing: first[..<ofFirst]))
            unsafe tap.sent(UnsafeRawBufferPointer(rebasing: second[..<(count - ofFirst)]))
        }
        return outcome
    }

    /// Sends bytes of a file. With a tap, the bytes are read again to report them; they are usually still
    /// cached.
    func sendFileBytes(_ file: Int32, offset: Int64, count: Int) -> Socket.Outcome {
        let outcome = channel.sendFile(file, offset: offset, count: count)
        if let tap, case .bytes(let sent) = outcome { show(tap, file, offset: offset, count: sent) }
        return outcome
    }

    private func show(_ tap: any ConnectionTap, _ file: Int32, offset: Int64, count: Int) {
        unsafe withUnsafeTemporaryAllocation(byteCount: min(count, 64 * 1024), alignment: 16) { piece in
            var shown = 0
            while shown < count {
                let room = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: piece[..<min(piece.count, count - shown)])
                let outcome = unsafe CachedFile.read(file, into: room, offset: offset + Int64(shown))
                if case .bytes(let read) = outcome, read > 0 {
                    unsafe tap.sent(UnsafeRawBufferPointer(rebasing: room[..<read]))
                    shown += read
                } else {
                    // The file has become shorter in the meantime, or cannot be read; report zeros, so that
                    // the byte count stays correct.
                    unsafe room.initializeMemory(as: UInt8.self, repeating: 0)
                    unsafe tap.sent(UnsafeRawBufferPointer(room))
                    shown += room.count
                }
            }
        }
    }
}
