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

/// A program of an administrator that reads its standard input, and whose exit status is the result.
///
/// It runs in a process group of its own, with `PATH` and the given variables as its environment. When the call
/// returns, no process of this group is left.
package struct ChildProcess: Sendable {
    /// How a program has ended.
    package struct Ending: Hashable, Sendable {
        /// The exit status, from 0 to 255.
        package let status: Int
        /// The beginning of what it has written to standard output and standard error.
        package let output: [UInt8]
    }

    /// The reason why there is no exit status.
    package enum Failure: Error, Hashable, Sendable {
        case notStarted(SystemError)
        /// It did not end in time, and was killed.
        case late
        /// A signal has ended it.
        case killed(signal: Int)
        /// The caller has ended it.
        case cancelled
        /// The input could not be read.
        case noInput
        /// The system has discarded the exit status, because this process ignores SIGCHLD.
        case unknownStatus

        /// A short description for the log.
        package var text: String {
            switch self {
            case .notStarted(let error): "it cannot be started: \(error.description)"
            case .late: "it did not end in time"
            case .killed(let signal): "signal \(signal) has ended it"
            case .cancelled: "it was ended because the server stops"
            case .noInput: "its input cannot be read"
            case .unknownStatus: "its exit status is unknown, because the server ignores SIGCHLD"
            }
        }
    }

    /// The maximum number of bytes of output that are kept; the rest is read and discarded.
    package static let outputLimit = 4096
    /// How long ``Failure/cancelled`` is noticed late at most, and the exit of the program on systems without descriptors of
    /// processes, in milliseconds.
    private static let tickMilliseconds: Int64 = hasProcessDescriptors ? 500 : 20

    private let path: String
    private let arguments: [String]
    private let seconds: Int64

    /// - Parameters:
    ///   - path: an absolute path.
    ///   - seconds: the time that the program has.
    package init(_ path: String, arguments: [String] = [], seconds: Int64) {
        self.path = path
        self.arguments = arguments
        self.seconds = seconds
    }

    /// Checks that a program exists and that this process may execute it.
    package static func check(_ path: String) throws(SystemError) {
        _ = try checked("access") { unsafe access(path, X_OK) }
        var status = stat()
        _ = try checked("stat") { unsafe stat(path, &status) }
        if status.st_mode & S_IFMT == S_IFDIR { throw SystemError(errno: EISDIR, call: "access") }
    }

    /// Runs the program, and returns when it has ended. Blocks. See ``Signals/prepareForChildren()``.
    ///
    /// - Parameters:
    ///   - environment: variables in the form `NAME=VALUE`, without NUL.
    ///   - isCancelled: called at least about twice a second; the program is killed if the result is true.
    ///   - input: appends the next bytes of standard input to an empty array, or nothing at the end. Returns false if
    ///     they cannot be read; the program is then killed. Not called again if the program does not read any further.
    package func run(
        environment: [String] = [], isCancelled: () -> Bool = { false }, _ input: (inout [UInt8]) -> Bool
    ) throws(Failure) -> Ending {
        let deadline = Clock.now() + seconds * 1_000_000_000
        let (toProgram, fromProgram): (SpawnedProcess.Pipe, SpawnedProcess.Pipe)
        let process: pid_t
        do throws(SystemError) {
            (toProgram, fromProgram) = (try SpawnedProcess.pipe(), try SpawnedProcess.pipe())
            process = try SpawnedProcess.spawn(
                path, arguments, environment: environment, input: toProgram.reading,
                output: fromProgram.writing, errors: fromProgram.writing, isGroup: true)
        } catch {
            throw .notStarted(error)
        }
        var running = Running(process, input: toProgram.writing, output: fromProgram.reading)
        toProgram.reading.end()
        fromProgram.writing.end()
        do throws(Failure) {
            while try !running.step(until: deadline, Self.tickMilliseconds, input) {
                if isCancelled() { throw .cancelled }
            }
            return try running.ending()
        } catch {
            running.kill()
            throw error
        }
    }

    /// A program that has been started. It must be ended with ``ending()`` or ``kill()``.
    private struct Running {
        private let process: pid_t
        private let input: SpawnedProcess.PipeEnd
        private let output: SpawnedProcess.PipeEnd
        /// Readable when the program has ended; -1 if the system has no such descriptors.
        private let exit: SpawnedProcess.PipeEnd
        private var status: Int32 = 0
        private var waiting: [UInt8] = []
        private var written = 0
        private var text: [UInt8] = []

        init(_ process: pid_t, input: SpawnedProcess.PipeEnd, output: SpawnedProcess.PipeEnd) {
            self.process = process
            self.input = input
            self.output = output
            exit = SpawnedProcess.PipeEnd(processDescriptor(of: process))
            input.stopBlocking()
            output.stopBlocking()
        }

        /// Waits until something happens, and passes on input and output.
        /// - Returns: whether the program has ended.
        mutating func step(
            until deadline: Int64, _ tickMilliseconds: Int64, _ next: (inout [UInt8]) -> Bool
        ) throws(Failure) -> Bool {
            let milliseconds = (deadline - Clock.now()) / 1_000_000
            guard milliseconds > 0 else { throw .late }
            // Negative descriptors are ignored.
            var events = [
                pollfd(fd: input.number, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: output.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: exit.number, events: Int16(POLLIN), revents: 0),
            ]
            let count = nfds_t(events.count)
            _ = unsafe poll(&events, count, Int32(min(milliseconds + 1, tickMilliseconds)))
            if events[1].revents != 0 { read() }
            if events[0].revents != 0 { try write(next) }
            guard exit.number < 0 || events[2].revents != 0 else { return false }
            return hasEnded()
        }

        /// Returns whether the program has ended, without releasing its process ID.
        private func hasEnded() -> Bool {
            var information = unsafe siginfo_t()
            let result = unsafe waitid(
                P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
            return unsafe result != 0 || information.si_signo != 0
        }

        private mutating func write(_ next: (inout [UInt8]) -> Bool) throws(Failure) {
            if written == waiting.count {
                waiting.removeAll(keepingCapacity: true)
                written = 0
                guard next(&waiting) else { throw .noInput }
                if waiting.isEmpty { return input.end() }
            }
            let (number, bytes, start) = (input.number, waiting, written)
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe writeBytes(number, UnsafeRawBufferPointer(rebasing: bytes[start...]))
            }
            if count >= 0 {
                written += count
            } else if errno != EAGAIN, errno != EINTR {
                // The program does not read any further.
                input.end()
            }
        }

        /// Reads once, so that a program that writes without end cannot hold up the caller.
        private mutating func read() {
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            let number = output.number
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe readBytes(number, $0) }
            if count == 0 { output.end() }
            if count > 0 { text += chunk[..<min(count, outputLimit - text.count)] }
        }

        /// Returns how the program has ended, which ``step(until:_:_:)`` has reported.
        mutating func ending() throws(Failure) -> Ending {
            if output.number >= 0 { read() }
            guard kill() else { throw .unknownStatus }
            let signal = status & 0x7F
            guard signal == 0 else { throw .killed(signal: Int(signal)) }
            return Ending(status: Int(status >> 8 & 0xFF), output: text)
        }

        /// Ends the processes of the group, if there are any left, and releases the process ID.
        /// - Returns: whether ``status`` is known.
        @discardableResult
        mutating func kill() -> Bool {
            _ = killProcess(-process)
            while true {
                let ended = unsafe waitpid(process, &status, 0)
                if ended >= 0 || errno != EINTR { return ended == process }
            }
        }
    }
}

// Inside the types, the names of these functions have other meanings.
private func killProcess(_ process: pid_t) -> Int32 { kill(process, SIGKILL) }

private func readBytes(_ number: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
    unsafe read(number, bytes.baseAddress, bytes.count)
}

private func writeBytes(_ number: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    unsafe write(number, bytes.baseAddress, bytes.count)
}

#if os(Linux)
private let hasProcessDescriptors = true
private func processDescriptor(of process: pid_t) -> Int32 { davit_pidfd_open(process) }
#else
private let hasProcessDescriptors = false
private func processDescriptor(of process: pid_t) -> Int32 { -1 }
#endif
private let outputLimit = ChildProcess.outputLimit
