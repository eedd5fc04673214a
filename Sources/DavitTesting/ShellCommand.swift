#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Runs other programs in a shell.
public enum ShellCommand {
    /// - Returns: the standard output of the commands, and the status of the shell as returned by pclose(3),
    ///   which is 0 if the last command succeeded; nil if no shell can be started.
    public static func run(_ commands: String) -> (status: Int32, output: [UInt8])? {
        guard let pipe = unsafe popen(commands, "r") else { return nil }
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = unsafe fread(&piece, 1, piece.count, pipe), count > 0 {
            output += piece[..<count]
        }
        return (unsafe pclose(pipe), output)
    }

    /// Returns whether a program is installed.
    public static func exists(_ program: String) -> Bool {
        run("command -v '\(program)' >/dev/null 2>&1")?.status == 0
    }
}
