/// Lines for people who run the server, on standard error or wherever a ``LogSink`` puts them.
///
/// Messages are constants; what varies is metadata.
public struct Log: Sendable {
    /// How much is said; each level holds the ones before it. `access` has a line for each response, `verbose` what
    /// becomes of connections.
    public enum Level: Int, Comparable, CaseIterable, Sendable {
        /// From what needs somebody to act to what only who works on the program wants to see; as listed.
        case error, warning, info, access, verbose, debug

        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    /// Lines of later levels are not written.
    public let level: Level
    private let sink: any LogSink

    /// - Parameters:
    ///   - level: lines up to this level are written.
    ///   - sink: gets them; called on the thread that has something to say, so that it must not wait for anything.
    public init(level: Level, sink: any LogSink = StandardErrorSink()) {
        self.level = level
        self.sink = sink
    }

    /// - Parameter write: gets each complete line, beginning with the time and with its line end.
    public init(level: Level, write: @escaping @Sendable ([UInt8]) -> Void) {
        self.init(level: level, sink: .custom { write($0.line) })
    }

    /// Whether lines of this level are written.
    public func isOn(_ level: Level) -> Bool { level <= self.level }

    /// Writes a line. As with the other levels, the metadata is not computed when the level is off.
    public func error(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.error) { write(.error, message, metadata()) }
    }

    /// Writes a line of this level; the metadata is not computed when the level is off.
    public func warning(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.warning) { write(.warning, message, metadata()) }
    }

    /// Writes a line of this level; the metadata is not computed when the level is off.
    public func info(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.info) { write(.info, message, metadata()) }
    }

    /// Writes a line of this level; the metadata is not computed when the level is off.
    public func verbose(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.verbose) { write(.verbose, message, metadata()) }
    }

    /// Writes a line of this level; the metadata is not computed when the level is off.
    public func debug(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.debug) { write(.debug, message, metadata()) }
    }

    /// Writes a line whose text somebody else composed; its length is not limited. Control characters and bytes
    /// that are not ASCII are escaped; a backslash stays, because the composer has used it to escape.
    public func text(_ level: Level, _ text: some Sequence<UInt8>) {
        guard isOn(level) else { return }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.underestimatedCount)
        for byte in text {
            if byte == UInt8(ascii: "\\") {
                bytes.append(byte)
            } else {
                bytes.appendEscaped(byte)
            }
        }
        sink.write(LogEntry(level: level, composed: bytes))
    }

    private func write(
        _ level: Level, _ message: StaticString, _ metadata: KeyValuePairs<StaticString, String>
    ) {
        sink.write(
            LogEntry(
                level: level, message: message.description,
                metadata: metadata.map { LogEntry.Field(key: $0.description, value: $1) }))
    }
}
