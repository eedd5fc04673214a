#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Output to the standard streams.
public enum StandardStreams {
    public static func writeOutput(_ text: String) { write(text, to: 1) }

    public static func writeError(_ text: String) { write(text, to: 2) }

    /// Writes to standard error with a single call; bytes that the call does not accept are lost.
    package static func writeErrorOnce(_ line: [UInt8]) { _ = write(line[...], to: 2) }

    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            #if canImport(Glibc)
            unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            #elseif canImport(Musl)
            unsafe Musl.write(descriptor, bytes.baseAddress, bytes.count)
            #else
            unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
            #endif
        }
    }
    /// Whether standard input is a terminal that is still connected.
    public static var hasTerminal: Bool { isatty(0) == 1 }
    /// Whether standard error is a terminal.
    public static var errorHasTerminal: Bool { isatty(2) == 1 }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = write(rest, to: descriptor)
            if count < 0 && errno == EINTR { continue }
            // Drop the rest, because the error could not be reported either.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
