/// A log for administrators, on standard error or in another ``LogSink``.
///
/// Messages are constant strings; variable data is passed as metadata.
public struct Log: Sendable {
    /// The level of detail; each level includes the ones before it. `access` adds a line for each response,
    /// and `verbose` adds connections that are refused because of the limit per address.
    public enum Level: Int, Comparable, CaseIterable, Sendable {
        /// In order from conditions that require action to details for developers.
        case error, warning, info, access, verbose, debug

        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    /// The most detailed level that is written.
    public var level: Level { threshold.level }
    private let threshold: LogThreshold
    private let sink: any LogSink

    /// - Parameters:
    ///   - level: the most detailed level that is written.
    ///   - sink: receives the entries, on the thread that logs them, so it must not block.
    public init(level: Level, sink: any LogSink = StandardErrorSink()) {
        threshold = LogThreshold(level)
        self.sink = sink
    }

    /// - Parameter write: receives each complete line, including the time and the line end.
    public init(level: Level, write: @escaping @Sendable ([UInt8]) -> Void) {
        self.init(level: level, sink: .custom { write($0.line) })
    }

    /// Returns whether this level is written.
    public func isOn(_ level: Level) -> Bool { threshold.includes(level) }

    /// Sets the most detailed level that is written, from now on, by this value and all copies of it.
    public func setLevel(_ level: Level) { threshold.set(level) }

    /// Writes an entry of level `error`. The metadata is evaluated only if the level is enabled.
    public func error(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.error) { write(.error, message, metadata()) }
    }

    /// Writes an entry of level `warning`. The metadata is evaluated only if the level is enabled.
    public func warning(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.warning) { write(.warning, message, metadata()) }
    }

    /// Writes an entry of level `info`. The metadata is evaluated only if the level is enabled.
    public func info(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.info) { write(.info, message, metadata()) }
    }

    /// Writes an entry of level `verbose`. The metadata is evaluated only if the level is enabled.
    public func verbose(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.verbose) { write(.verbose, message, metadata()) }
    }

    /// Writes an entry of level `debug`. The metadata is evaluated only if the level is enabled.
    public func debug(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.debug) { write(.debug, message, metadata()) }
    }

    /// Writes a line that the caller has formatted, of any length. Control characters and non-ASCII bytes are
    /// escaped; backslashes are not, because the caller uses them for escapes.
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
