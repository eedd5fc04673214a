#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Reads secrets from standard input, typed by a user or written by a program.
package enum Terminal {
    /// Whether standard input is a terminal.
    package static var isInput: Bool { isatty(0) == 1 }

    /// Prompts for a line, which is not displayed as it is typed.
    ///
    /// Signals from the keyboard are disabled, so that Ctrl-C cannot end the process before the terminal
    /// settings are restored.
    /// - Returns: the line without its line end; nil if the user canceled with Ctrl-C or Ctrl-D, or if the
    ///   input ends before the line does.
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
        var line = LineEditor()
        while true {
            guard let byte = try readByte() else { return nil }
            switch line.take(byte) {
            case .more: break
            case .ended: return line.bytes
            case .givenUp: return nil
            }
        }
    }

    /// Reads the first line of standard input, without its line end; empty if there is no input.
    /// - Parameter limit: longer lines are truncated to this number of bytes.
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

/// A line editor with keys for deleting the last character or the whole line.
package struct LineEditor {
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

    /// Removes all bytes of the last UTF-8 character.
    private mutating func removeCharacter() {
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    }
}
