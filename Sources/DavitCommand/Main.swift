#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The `davit` executable.
@main struct Main {
    static func main() {
        let status = Command.run(Array(CommandLine.arguments.dropFirst()))
        // Not `exit`, which runs the exit handlers of libraries. That of OpenSSL frees state of threads, while the last threads
        // of the server, whose work is done, may still be ending. davit itself buffers no output.
        _exit(status)
    }
}
