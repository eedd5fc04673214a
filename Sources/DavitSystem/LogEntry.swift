/// Something that a server has to say.
public struct LogEntry: Sendable {
    /// One piece of what varies.
    public struct Field: Hashable, Sendable {
        /// What the value is called; the same for each entry of its kind.
        public var key: String
        /// As it came; it can hold anything a client sent. ``LogEntry/text`` has it escaped.
        public var value: String

        /// A value with its name.
        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// How much it matters.
    public let level: Log.Level
    /// The same for each entry of its kind; of the level `access` the whole line, escaped.
    public let message: String
    /// What was at hand, in the order given.
    public let metadata: [Field]
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    public let time: Int64
    private let isComposed: Bool

    /// An entry of this moment.
    public init(level: Log.Level, message: String, metadata: [Field] = []) {
        self.level = level
        self.message = message
        self.metadata = metadata
        time = Clock.wallNow()
        isComposed = false
    }

    /// - Parameter composed: printable ASCII.
    init(level: Log.Level, composed: [UInt8]) {
        self.level = level
        message = String(decoding: composed, as: UTF8.self)
        metadata = []
        time = Clock.wallNow()
        isComposed = true
    }

    /// `message key=value key="two words"`: printable ASCII, whatever is in the metadata; it cannot forge a line or
    /// disturb a terminal.
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

    /// `2026-01-02T03:04:05.678Z warning message key=value`, with a line end.
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

    /// `<4>message key=value`, with a line end: how systemd's journal learns the priority of a line (sd-daemon(3)). It
    /// has a clock of its own.
    public var journalLine: [UInt8] {
        var line: [UInt8] = [UInt8(ascii: "<"), UInt8(ascii: "0") + level.priority, UInt8(ascii: ">")]
        line.reserveCapacity(64 + message.utf8.count)
        appendText(to: &line)
        line.append(UInt8(ascii: "\n"))
        return line
    }
}

extension Log.Level {
    /// The priority of syslog (RFC 5424 §6.2.1).
    var priority: UInt8 {
        switch self {
        case .error: 3
        case .warning: 4
        case .info, .access: 6
        case .verbose, .debug: 7
        }
    }
}
