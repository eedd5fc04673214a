internal import DavitSystem

/// An entry of the log.
public struct LogEntry: Sendable {
    /// A metadata field.
    public struct Field: Hashable, Sendable {
        /// The key, such as `reason`: a constant that never contains data from a client.
        public var key: String
        /// The unescaped value, which may contain arbitrary data from a client. In ``LogEntry/text``, the value
        /// is escaped.
        public var value: String

        /// Creates a field.
        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// The severity of the entry.
    public let level: Log.Level
    /// A constant message; for the level `access`, the complete escaped line.
    public let message: String
    /// The metadata, in the order in which it was passed.
    public let metadata: [Field]
    /// The time of the entry in nanoseconds since 1970-01-01T00:00:00Z.
    public let time: Int64
    private let isComposed: Bool

    /// Creates an entry with the current time.
    public init(level: Log.Level, message: String, metadata: [Field] = []) {
        self.level = level
        self.message = message
        self.metadata = metadata
        time = Clock.wallNow()
        isComposed = false
    }

    /// - Parameter composed: the text, which must be printable ASCII.
    init(level: Log.Level, composed: [UInt8]) {
        self.level = level
        message = String(decoding: composed, as: UTF8.self)
        metadata = []
        time = Clock.wallNow()
        isComposed = true
    }

    /// The text in the form `message key=value key="two words"`. It consists of printable ASCII only, so that
    /// metadata cannot forge log lines or control a terminal.
    public var text: String {
        var bytes: [UInt8] = []
        appendText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func appendText(to line: inout [UInt8]) {
        if isComposed {
            line.append(contentsOf: message.utf8)
        } else {
            for byte in message.utf8 { line.appendEscaped(byte) }
        }
        for field in metadata {
            line.append(UInt8(ascii: " "))
            for byte in field.key.utf8 { line.appendEscaped(byte) }
            line.append(UInt8(ascii: "="))
            line.appendValue(field.value.utf8)
        }
    }

    /// The line in the form `2026-01-02T03:04:05.678Z warning message key=value`, with a line end.
    public var line: [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(64 + message.utf8.count)
        line.appendTimestamp(nanoseconds: time)
        line.append(UInt8(ascii: " "))
        line.append(contentsOf: "\(level) ".utf8)
        appendText(to: &line)
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// The line in the form `<4>message key=value`, with a line end. The prefix passes the priority to
    /// systemd's journal (sd-daemon(3)), which adds the time.
    public var journalLine: [UInt8] {
        var line: [UInt8] = [UInt8(ascii: "<"), UInt8(ascii: "0") + level.priority, UInt8(ascii: ">")]
        line.reserveCapacity(64 + message.utf8.count)
        appendText(to: &line)
        line.append(UInt8(ascii: "\n"))
        return line
    }
}

extension Log.Level {
    /// The syslog severity (RFC 5424 §6.2.1).
    var priority: UInt8 {
        switch self {
        case .error: 3
        case .warning: 4
        case .info, .access: 6
        case .verbose, .debug: 7
        }
    }
}
