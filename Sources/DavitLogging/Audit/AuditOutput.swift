internal import DavitSystem

/// Where the lines of an audit log go. Used only by the thread of the log; calls block.
protocol AuditOutput: Sendable {
    /// Writes lines.
    /// - Parameters:
    ///   - lines: complete lines with line ends.
    ///   - written: the number of bytes that are already written; advanced with each success.
    /// - Throws: the system error; the call can then be repeated with the same arguments.
    mutating func write(_ lines: [UInt8], from written: inout Int) throws(SystemError)

    /// Makes sure that further lines can be written.
    mutating func reserve() throws(SystemError)

    /// Returns the space that was reserved.
    func release()

    /// Opens the destination again, because another program may have renamed it.
    mutating func reopen() throws(SystemError)
}

/// A file of an audit log, with a limit of its size.
struct AuditFile: AuditOutput {
    /// The space that is always reserved for further lines: more than the lines that can be waiting.
    private static let reservedBytes: Int64 = 4 << 20

    private let path: String
    private let rotation: AuditLog.Rotation?
    private var file: FileDescriptorBox
    private var length: Int64
    /// The offset up to which the volume has reserved space.
    private var reservedEnd: Int64 = 0

    /// A class, because an optional descriptor cannot be a member of a copyable type.
    private final class FileDescriptorBox: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    init(_ path: String, _ rotation: AuditLog.Rotation?) throws(SystemError) {
        self.path = path
        self.rotation = rotation
        (file, length) = try Self.open(path)
    }

    private static func open(_ path: String) throws(SystemError) -> (FileDescriptorBox, Int64) {
        let file = FileDescriptorBox(try .appendingAndReading(path))
        var length = try file.descriptor.length()
        // After a crash, the last line may be incomplete. It must not make the next one invalid.
        if length > 0, try !endsInLineEnd(file, length) {
            length += Int64(try append([UInt8(ascii: "\n")].span, to: file))
        }
        return (file, length)
    }

    private static func endsInLineEnd(_ file: FileDescriptorBox, _ length: Int64) throws(SystemError) -> Bool
    {
        var last: [UInt8] = [0]
        let result = unsafe last.withUnsafeMutableBytes { bytes in
            Result { () throws(SystemError) in try unsafe file.descriptor.read(at: length - 1, into: bytes) }
        }
        return try result.get() == 0 || last[0] == UInt8(ascii: "\n")
    }

    private static func append(_ bytes: borrowing Span<UInt8>, to file: FileDescriptorBox) throws(SystemError)
        -> Int
    {
        let result = unsafe bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try unsafe file.descriptor.append(bytes) }
        }
        return try result.get()
    }

    mutating func write(_ lines: [UInt8], from written: inout Int) throws(SystemError) {
        if let rotation, written == 0, length > 0, length + Int64(lines.count) > rotation.bytes {
            try rotate(keeping: rotation.count)
        }
        while written < lines.count {
            let count = try Self.append(lines.span.extracting(written..<lines.count), to: file)
            written += count
            length += Int64(count)
        }
    }

    mutating func reserve() throws(SystemError) {
        guard reservedEnd - length < Self.reservedBytes / 2 else { return }
        try file.descriptor.reserveSpace(from: length, count: Self.reservedBytes)
        reservedEnd = length + Self.reservedBytes
    }

    func release() {
        // The length at this moment, because another program may have truncated the file.
        if reservedEnd > 0, let length = try? file.descriptor.length(), length > 0 {
            try? file.descriptor.setLength(length)
        }
    }

    mutating func reopen() throws(SystemError) {
        release()
        (file, length) = try Self.open(path)
        reservedEnd = 0
    }

    /// Renames `log` to `log.1`, `log.1` to `log.2` and so on; the file with the highest number is replaced.
    private mutating func rotate(keeping count: Int) throws(SystemError) {
        for number in stride(from: count - 1, through: 1, by: -1) {
            _ = try FileDescriptor.rename("\(path).\(number)", to: "\(path).\(number + 1)")
        }
        _ = try FileDescriptor.rename(path, to: "\(path).1")
        try reopen()
    }
}

/// The socket of a syslog daemon, or of systemd's journal.
struct AuditSocket: AuditOutput {
    /// How long to wait for a slow service before it counts as failing.
    private static let (attempts, restMilliseconds) = (100, 5)

    private let socket: DatagramSocketBox
    private let head: [UInt8]

    /// A class, because outputs are copyable.
    private final class DatagramSocketBox: Sendable {
        let socket: DatagramSocket
        init(_ socket: consuming DatagramSocket) { self.socket = socket }
    }

    /// - Parameter head: what precedes each record in its datagram.
    init(to address: String, head: [UInt8]) throws(SystemError) {
        socket = DatagramSocketBox(try DatagramSocket(to: address))
        self.head = head
    }

    mutating func write(_ lines: [UInt8], from written: inout Int) throws(SystemError) {
        while written < lines.count {
            let end = lines[written...].firstIndex(of: UInt8(ascii: "\n")) ?? lines.count
            let datagram = head + lines[written..<end]
            try send(datagram)
            written = end + 1
        }
    }

    private func send(_ datagram: [UInt8]) throws(SystemError) {
        for attempt in 1...Self.attempts {
            do throws(SystemError) { return try socket.socket.send(datagram.span) } catch {
                guard error.code == .again, attempt < Self.attempts else { throw error }
                SystemThread.sleep(milliseconds: Self.restMilliseconds)
            }
        }
    }

    mutating func reserve() {}
    func release() {}
    mutating func reopen() {}
}
