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
        exit(Command.run(Array(CommandLine.arguments.dropFirst())))
    }
}
