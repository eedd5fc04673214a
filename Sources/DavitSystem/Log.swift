#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Lines for people who run the server, on standard error.
///
/// One line is one `write(2)`, so that lines of several threads do not mix. Messages are constants; what varies
/// is metadata, and bytes that could disturb a terminal or forge a line are escaped.
public struct Log: Sendable {
    public enum Level: Int, Comparable, CaseIterable, Sendable {
        case error, warning, info, access, debug

        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    public let level: Level
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - level: lines up to this level are written.
    ///   - write: gets each complete line with its line end; standard error unless given.
    public init(level: Level, write: (@Sendable ([UInt8]) -> Void)? = nil) {
        self.level = level
        self.write = write ?? Log.writeToStandardError
    }

    public func isOn(_ level: Level) -> Bool { level <= self.level }

    /// Writes a line. As with the other levels, the metadata is not computed when the level is off.
    public func error(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.error) { line(.error, message, metadata()) }
    }

    public func warning(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.warning) { line(.warning, message, metadata()) }
    }

    public func info(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.info) { line(.info, message, metadata()) }
    }

    public func debug(
        _ message: StaticString, _ metadata: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
    ) {
        if isOn(.debug) { line(.debug, message, metadata()) }
    }

    /// Writes a line whose text somebody else composed; its length is not limited. Control characters and bytes
    /// that are not ASCII are escaped; a backslash stays, because the composer has used it to escape.
    public func text(_ level: Level, _ text: some Sequence<UInt8>) {
        guard isOn(level) else { return }
        var line = Self.prefix(level)
        for byte in text {
            if byte == UInt8(ascii: "\\") {
                line.append(byte)
            } else {
                line.appendEscaped(CollectionOfOne(byte))
            }
        }
        line.append(UInt8(ascii: "\n"))
        write(line)
    }

    private func line(
        _ level: Level, _ message: StaticString, _ metadata: KeyValuePairs<StaticString, String>
    ) {
        var line = Self.prefix(level)
        line.append(contentsOf: message.description.utf8)
        for (key, value) in metadata {
            line.append(UInt8(ascii: " "))
            line.append(contentsOf: key.description.utf8)
            line.append(UInt8(ascii: "="))
            line.appendValue(value.utf8)
        }
        line.append(UInt8(ascii: "\n"))
        write(line)
    }

    private static func prefix(_ level: Level) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(160)
        line.appendTimestamp(nanoseconds: Clock.wallNow())
        line.append(UInt8(ascii: " "))
        line.append(contentsOf: "\(level)".utf8)
        line.append(UInt8(ascii: " "))
        return line
    }

    private static func writeToStandardError(_ line: [UInt8]) {
        // A log that cannot be written has nowhere to say so.
        unsafe line.withUnsafeBytes { bytes in
            #if canImport(Darwin)
            _ = unsafe Darwin.write(2, bytes.baseAddress, bytes.count)
            #elseif canImport(Glibc)
            _ = unsafe Glibc.write(2, bytes.baseAddress, bytes.count)
            #else
            _ = unsafe Musl.write(2, bytes.baseAddress, bytes.count)
            #endif
        }
    }
}
