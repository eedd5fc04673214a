#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A short-lived program that answers one request on its standard output.
package enum HelperProcess {
    /// The reason why there is no answer.
    package enum Failure: Error, Hashable, Sendable {
        /// The program cannot be started.
        case notStarted(SystemError)
        /// The program did not answer in time, and was ended.
        case late
        /// The program has ended without a complete answer, or its answer is too long.
        case noAnswer
    }

    /// Maximum length of an answer.
    static let answerLimit = 64 << 10

    /// Runs a program, and returns what it writes before a line with a dot. The program is killed then, or at its
    /// deadline. Blocks.
    /// - Parameters:
    ///   - input: at most 4096 bytes, which fit into a pipe; standard input of the program.
    ///   - seconds: the time that the program has.
    package static func answer(
        of path: String, arguments: [String], input: [UInt8], within seconds: Int64
    ) throws(Failure) -> [UInt8] {
        let deadline = Clock.now() + seconds * 1_000_000_000
        let (toHelper, fromHelper): (SpawnedProcess.Pipe, SpawnedProcess.Pipe)
        let process: pid_t
        do throws(SystemError) {
            (toHelper, fromHelper) = (try SpawnedProcess.pipe(), try SpawnedProcess.pipe())
            process = try SpawnedProcess.spawn(
                path, arguments, input: toHelper.reading, output: fromHelper.writing)
        } catch {
            throw .notStarted(error)
        }
        // The process ends even if its modules do not react to other signals.
        defer {
            kill(process, SIGKILL)
            var status: Int32 = 0
            while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        }
        toHelper.reading.end()
        fromHelper.writing.end()
        // If the program has ended, there is no answer either.
        _ = unsafe write(toHelper.writing.number, input, input.count)
        toHelper.writing.end()
        return try read(fromHelper.reading.number, until: deadline)
    }

    /// Reads until a line with a dot.
    private static func read(_ number: Int32, until deadline: Int64) throws(Failure) -> [UInt8] {
        let end = Array(".\n".utf8)
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while answer.count <= answerLimit {
            let milliseconds = (deadline - Clock.now()) / 1_000_000
            guard milliseconds > 0 else { throw .late }
            var event = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&event, 1, Int32(min(milliseconds + 1, 60_000))) > 0 else { continue }
            #if canImport(Glibc)
            let count = unsafe Glibc.read(number, &chunk, chunk.count)
            #elseif canImport(Musl)
            let count = unsafe Musl.read(number, &chunk, chunk.count)
            #else
            let count = unsafe Darwin.read(number, &chunk, chunk.count)
            #endif
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .noAnswer }
            answer += chunk[..<count]
            guard answer.suffix(2).elementsEqual(end) else { continue }
            let isLine = answer.count == 2 || answer[answer.count - 3] == UInt8(ascii: "\n")
            if isLine { return Array(answer.dropLast(2)) }
        }
        throw .noAnswer
    }
}
