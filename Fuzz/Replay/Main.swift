internal import DavitSystem
internal import DavitTesting
internal import FuzzTargets

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Runs a fuzz target on all inputs of a corpus and on mutations of them, without coverage instrumentation.
///
/// The mutations depend only on the corpus, the dictionary and the seed. The process ends at the first input that
/// breaks an invariant, traps, or exceeds the time limit; `--current` keeps this input, see ``CurrentInputFile``.
@main struct Main {
    static func main() {
        do throws(ReplayError) {
            let arguments = try ReplayArguments(CommandLine.arguments.dropFirst())
            let count = try replay(arguments)
            StandardStreams.writeOutput("\(arguments.targetName): \(count) inputs\n")
        } catch {
            StandardStreams.writeError("FuzzReplay: \(error.message)\n")
            exit(error.status)
        }
    }

    /// Returns the number of inputs.
    private static func replay(_ arguments: ReplayArguments) throws(ReplayError) -> Int {
        var files: [[UInt8]] = []
        for path in arguments.paths { files += try inputs(at: path) }
        let words = try arguments.dictionary.map { path throws(ReplayError) in
            try MutationWords(dictionary: try read(path))
        }
        let capacity = files.reduce(arguments.maximumLength) { max($0, $1.count) }
        let current = try arguments.current.map { path throws(ReplayError) in
            try CurrentInputFile(path: path, capacity: capacity)
        }
        func run(_ input: [UInt8]) {
            current?.store(input)
            // SIGALRM ends the process.
            alarm(arguments.timeout)
            arguments.run(input)
        }
        for file in files { run(file) }
        guard arguments.runs > 0 else { return files.count }
        StandardStreams.writeOutput("seed: \(arguments.seed)\n")
        var mutator = InputMutator(
            inputs: files, words: words ?? MutationWords(), maximumLength: arguments.maximumLength,
            seed: "\(arguments.targetName) \(arguments.seed)")
        for _ in 0..<arguments.runs { run(mutator.next()) }
        return files.count + arguments.runs
    }

    /// Returns the content of a file, or of all files of a folder in the order of their names.
    private static func inputs(at path: String) throws(ReplayError) -> [[UInt8]] {
        let names = SmallFiles.names(path)
        if !names.isEmpty {
            var files: [[UInt8]] = []
            for name in names { files.append(try read("\(path)/\(name)")) }
            return files
        }
        let file = try read(path)
        // An empty folder also reads as an empty file. It would pass without testing anything.
        if file.isEmpty { throw ReplayError(status: 66, message: "no input in \(path)") }
        return [file]
    }

    private static func read(_ path: String) throws(ReplayError) -> [UInt8] {
        do { return try SmallFiles.read(path) } catch {
            throw ReplayError(status: 66, message: "cannot read \(path)")
        }
    }
}

/// An error in the arguments or files, with an exit status of `sysexits.h`.
struct ReplayError: Error {
    let status: Int32
    let message: String
}
