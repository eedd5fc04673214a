#if os(Linux)
internal import CLinux
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension Socket {
    /// Receives at most as many bytes as fit into `buffer`, which must not be empty.
    package static func receive(_ socket: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        let (count, code) = uninterrupted { unsafe recv(socket, buffer.baseAddress, buffer.count, 0) }
        if count > 0 { return .bytes(count) }
        return count == 0 ? .ended : outcome(of: code, "recv")
    }

    /// Reads the next byte without consuming it.
    package static func peek(_ socket: Int32, _ byte: inout UInt8) -> Outcome {
        let (count, code) = uninterrupted { unsafe recv(socket, &byte, 1, peekFlag) }
        if count > 0 { return .bytes(count) }
        return count == 0 ? .ended : outcome(of: code, "recv")
    }

    /// Sends as many bytes as the socket accepts.
    /// - Parameter isFollowed: whether the caller sends more immediately, so that a partial packet can be
    ///   delayed.
    package static func send(
        _ socket: Int32, _ bytes: UnsafeRawBufferPointer, isFollowed: Bool = false
    ) -> Outcome {
        let (count, code) = uninterrupted {
            unsafe sendBytes(socket, bytes.baseAddress, bytes.count, flags(isFollowed))
        }
        return count >= 0 ? .bytes(count) : outcome(of: code, "send")
    }

    /// Sends as many bytes of two consecutive buffers as the socket accepts, in one system call.
    package static func send(
        _ socket: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer,
        isFollowed: Bool = false
    ) -> Outcome {
        let (count, code) = unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { pieces in
            unsafe pieces.initializeElement(
                at: 0,
                to: iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count))
            unsafe pieces.initializeElement(
                at: 1,
                to: iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count))
            var message = unsafe msghdr()
            unsafe message.msg_iov = pieces.baseAddress
            unsafe message.msg_iovlen = 2
            return uninterrupted { unsafe sendmsg(socket, &message, flags(isFollowed)) }
        }
        return count >= 0 ? .bytes(count) : outcome(of: code, "sendmsg")
    }

    /// Sends bytes of a file without copying them to user space.
    /// - Parameter count: at least 1.
    /// - Returns: `ended` if the file has no byte at `offset`.
    package static func sendFile(_ socket: Int32, from file: Int32, offset: Int64, count: Int) -> Outcome {
        #if canImport(Darwin)
        var length = off_t(count)
        let result = unsafe sendfile(file, socket, offset, &length, nil, 0)
        // A partial transfer is reported as a failure with a length.
        if length > 0 { return .bytes(Int(length)) }
        return result == 0 ? .ended : errno == EINTR ? .bytes(0) : outcome(of: errno, "sendfile")
        #else
        var position = off_t(offset)
        let (sent, code) = uninterrupted { unsafe sendfile(socket, file, &position, count) }
        if sent > 0 { return .bytes(sent) }
        return sent == 0 ? .ended : outcome(of: code, "sendfile")
        #endif
    }

    private static func outcome(of code: Int32, _ call: SystemError.StaticName) -> Outcome {
        code == EAGAIN || code == EWOULDBLOCK
            ? .wouldBlock : .failed(SystemError(errno: code, call: call))
    }

    private static var peekFlag: Int32 {
        #if canImport(Darwin)
        MSG_PEEK
        #else
        DAVIT_MSG_PEEK
        #endif
    }

    private static func flags(_ isFollowed: Bool) -> Int32 {
        #if canImport(Darwin)
        return 0
        #else
        return isFollowed ? DAVIT_MSG_NOSIGNAL | DAVIT_MSG_MORE : DAVIT_MSG_NOSIGNAL
        #endif
    }

    @inline(__always)
    private static func sendBytes(
        _ socket: Int32, _ start: UnsafeRawPointer?, _ count: Int, _ flags: Int32
    ) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.send(socket, start, count, flags)
        #elseif canImport(Musl)
        unsafe Musl.send(socket, start, count, flags)
        #else
        unsafe Darwin.send(socket, start, count, flags)
        #endif
    }
}
