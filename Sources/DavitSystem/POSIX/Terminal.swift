#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Secrets from the person, or the program, at standard input.
package enum Terminal {
    /// Whether a person types there.
    package static var isInput: Bool { isatty(0) == 1 }

    /// One line that a person types and nobody sees.
    ///
    /// The terminal hands over each key, also Ctrl-C: if that ended the process here, the terminal would stay as it is.
    /// - Returns: without its end; nil if the person gave up, with Ctrl-C or Ctrl-D.
    package static func readHidden(_ prompt: String) throws(SystemError) -> [UInt8]? {
        var settings = termios()
        guard unsafe tcgetattr(0, &settings) == 0 else { throw SystemError(errno: errno, call: "tcgetattr") }
        var before = settings
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard unsafe tcsetattr(0, TCSAFLUSH, &settings) == 0 else {
            throw SystemError(errno: errno, call: "tcsetattr")
        }
        defer { unsafe tcsetattr(0, TCSAFLUSH, &before) }
        StandardStreams.writeError(prompt)
        defer { StandardStreams.writeError("\n") }
        var line = HiddenLine()
        while true {
            guard let byte = try readByte() else { return nil }
            switch line.take(byte) {
            case .more: break
            case .ended: return line.bytes
            case .givenUp: return nil
            }
        }
    }

    /// The first line of standard input, without its end; empty if there is nothing.
    /// - Parameter limit: longer ones are cut there.
    package static func readLine(limit: Int) throws(SystemError) -> [UInt8] {
        var line: [UInt8] = []
        while line.count < limit, let byte = try readByte(), byte != UInt8(ascii: "\n") { line.append(byte) }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }

    private static func readByte() throws(SystemError) -> UInt8? {
        var byte: UInt8 = 0
        while true {
            switch unsafe read(0, &byte, 1) {
            case 1: return byte
            case 0: return nil
            default: if errno != EINTR { throw SystemError(errno: errno, call: "read") }
            }
        }
    }
}

/// A line as it is typed, with the keys that take back.
package struct HiddenLine {
    package enum Outcome { case more, ended, givenUp }

    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func take(_ byte: UInt8) -> Outcome {
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return .ended
        case 3, 4: return .givenUp
        case 8, 127: removeCharacter()
        case 21: bytes.removeAll()
        default: bytes.append(byte)
        }
        return .more
    }

    /// All bytes of the last character, in UTF-8.
    private mutating func removeCharacter() {
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    }
}
