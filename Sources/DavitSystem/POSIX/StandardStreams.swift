#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Texts for the person or the program that started this one.
public enum StandardStreams {
    public static func writeOutput(_ text: String) { write(text, to: 1) }

    public static func writeError(_ text: String) { write(text, to: 2) }

    /// One call: what standard error does not take at once is lost.
    static func writeErrorOnce(_ line: [UInt8]) { _ = write(line[...], to: 2) }

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
    /// Whether somebody sits, or still sits, at the terminal that standard input is.
    public static var hasTerminal: Bool { isatty(0) == 1 }
    /// Whether standard error goes to a terminal.
    public static var errorHasTerminal: Bool { isatty(2) == 1 }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = write(rest, to: descriptor)
            if count < 0 && errno == EINTR { continue }
            // Nobody reads any more: there is nobody to tell.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
