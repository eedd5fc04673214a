internal import DavitSystem

/// A connection to the message bus of the system. Used by one thread.
///
/// Sending blocks for ``timeoutSeconds`` at most; ``receive()`` is called when the socket is readable.
final class DBusConnection {
    /// Why there is no connection.
    enum Failure: Error, Hashable, Sendable {
        case system(SystemError)
        /// The address of the bus is not that of a Unix socket with a path.
        case unsupportedAddress
        /// The bus does not accept the user of this process.
        case refused
        case malformed(DBusMessage.Malformed)
        /// The bus has closed the connection.
        case closed
    }

    static let timeoutSeconds = 2
    /// The maximum length of a line during authentication.
    private static let lineLimit = 1024

    private let socket: LocalConnection
    private var received: [UInt8] = []
    private var lastSerial: UInt32 = 0

    /// The socket, which becomes readable when a message arrives.
    var descriptor: Int32 { socket.number }

    /// Connects to a bus, and authenticates with the user ID of this process. Blocks. The bus expects a call of `Hello` next.
    init(path: String) throws(Failure) {
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/") else { throw .unsupportedAddress }
        do throws(SystemError) {
            socket = try LocalConnection(
                folder: String(path[..<slash]), name: String(path[path.index(after: slash)...]),
                timeoutSeconds: Self.timeoutSeconds)
        } catch {
            throw .system(error)
        }
        // D-Bus Specification, "Authentication Protocol": EXTERNAL uses the credentials of the socket.
        let user = "\(LocalConnection.ownUser)".utf8.map { String($0, radix: 16) }.joined()
        try write(Array("\0AUTH EXTERNAL \(user)\r\n".utf8))
        guard try line().hasPrefix("OK ") else { throw .refused }
        try write(Array("BEGIN\r\n".utf8))
    }

    /// Returns the path of the bus in a list of addresses, such as `unix:path=/run/dbus/system_bus_socket`.
    /// - Parameter address: the value of the environment variable, or nil for the default address.
    static func path(inAddress address: String?) throws(Failure) -> String {
        guard let address, !address.isEmpty else { return "/run/dbus/system_bus_socket" }
        for choice in address.split(separator: ";") where choice.hasPrefix("unix:") {
            for pair in choice.dropFirst(5).split(separator: ",") where pair.hasPrefix("path=") {
                if let path = unescaped(pair.dropFirst(5)) { return path }
            }
        }
        throw .unsupportedAddress
    }

    /// Decodes bytes that are written as `%` and two hexadecimal digits.
    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private func line() throws(Failure) -> String {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = received[..<end].filter { $0 != UInt8(ascii: "\r") }
                received.removeFirst(end + 1)
                return String(decoding: line, as: UTF8.self)
            }
            if received.count > Self.lineLimit { throw .refused }
            try read()
        }
    }

    /// Sends a message, and returns its serial.
    func send(_ message: DBusMessage) throws(Failure) -> UInt32 {
        lastSerial = lastSerial == .max ? 1 : lastSerial + 1
        var message = message
        message.serial = lastSerial
        try write(message.bytes)
        return lastSerial
    }

    /// Reads what has arrived, and returns the complete messages.
    func receive() throws(Failure) -> [DBusMessage] {
        try read()
        return try messages()
    }

    /// Returns the complete messages that have been read.
    func messages() throws(Failure) -> [DBusMessage] {
        do throws(DBusMessage.Malformed) {
            var messages: [DBusMessage] = []
            while let length = try DBusMessage.length(of: received), received.count >= length {
                if let message = try DBusMessage(parsing: received) { messages.append(message) }
                received.removeFirst(length)
            }
            return messages
        } catch {
            throw .malformed(error)
        }
    }

    private func read() throws(Failure) {
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try socket.receive() } catch { throw .system(error) }
        if bytes.isEmpty { throw .closed }
        received += bytes
    }

    private func write(_ bytes: [UInt8]) throws(Failure) {
        do throws(SystemError) { try socket.send(bytes) } catch { throw .system(error) }
    }
}
