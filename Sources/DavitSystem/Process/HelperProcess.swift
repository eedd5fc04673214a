#if os(Linux)
internal import CLinux
#endif
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
        let (toHelper, fromHelper) = (try pipe(), try pipe())
        let process = try spawn(path, arguments, input: toHelper.reading, output: fromHelper.writing)
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

    /// One end of a pipe.
    private final class PipeEnd {
        private(set) var number: Int32

        init(_ number: Int32) { self.number = number }

        func end() {
            if number >= 0 { close(number) }
            number = -1
        }

        deinit { end() }
    }

    private static func pipe() throws(Failure) -> (reading: PipeEnd, writing: PipeEnd) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
        let code = unsafe davit_pipe2(&ends, O_CLOEXEC)
        #else
        let code = unsafe Darwin.pipe(&ends)
        #endif
        guard code == 0 else { throw .notStarted(SystemError(errno: errno, call: "pipe")) }
        #if !os(Linux)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #endif
        return (PipeEnd(ends[0]), PipeEnd(ends[1]))
    }

    private static func spawn(
        _ path: String, _ arguments: [String], input: PipeEnd, output: PipeEnd
    ) throws(Failure) -> pid_t {
        #if os(Linux)
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #else
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, input.number, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output.number, 1)
        // The server ignores SIGPIPE and blocks signals that it handles; programs expect the defaults.
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))
        var process: pid_t = 0
        let code = unsafe withStrings([path] + arguments) { words in
            unsafe withStrings(["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]) { environment in
                unsafe posix_spawn(&process, path, &actions, &attributes, words, environment)
            }
        }
        guard code == 0 else { throw .notStarted(SystemError(errno: code, call: "posix_spawn")) }
        return process
    }

    private static func withStrings<R>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: texts.count + 1)
        for (index, text) in texts.enumerated() { unsafe pointers[index] = unsafe strdup(text) }
        unsafe pointers[texts.count] = nil
        defer {
            for index in texts.indices { unsafe free(pointers[index]) }
            unsafe pointers.deallocate()
        }
        return unsafe body(pointers)
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
