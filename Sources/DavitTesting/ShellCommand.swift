#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Other programs, as a shell runs them.
public enum ShellCommand {
    /// - Returns: what the commands wrote on standard output, and how the last one ended; nil without a shell.
    public static func run(_ commands: String) -> (status: Int32, output: [UInt8])? {
        guard let pipe = unsafe popen(commands, "r") else { return nil }
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = unsafe fread(&piece, 1, piece.count, pipe), count > 0 {
            output += piece[..<count]
        }
        return (unsafe pclose(pipe), output)
    }

    /// Whether there is such a program.
    public static func exists(_ program: String) -> Bool {
        run("command -v '\(program)' >/dev/null 2>&1")?.status == 0
    }
}
