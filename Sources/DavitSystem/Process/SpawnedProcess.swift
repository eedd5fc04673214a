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

/// How programs are started: with default signal handling, without the environment of the server, and with pipes as standard
/// input and output.
enum SpawnedProcess {
    typealias Pipe = (reading: PipeEnd, writing: PipeEnd)

    /// One end of a pipe.
    final class PipeEnd {
        private(set) var number: Int32

        init(_ number: Int32) { self.number = number }

        /// Makes calls return instead of waiting.
        func stopBlocking() { _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK) }

        func end() {
            if number >= 0 { close(number) }
            number = -1
        }

        deinit { end() }
    }

    static func pipe() throws(SystemError) -> Pipe {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
        let code = unsafe davit_pipe2(&ends, O_CLOEXEC)
        #else
        let code = unsafe Darwin.pipe(&ends)
        #endif
        guard code == 0 else { throw SystemError(errno: errno, call: "pipe") }
        #if !os(Linux)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #endif
        return (PipeEnd(ends[0]), PipeEnd(ends[1]))
    }

    /// Starts a program.
    /// - Parameters:
    ///   - environment: variables in addition to `PATH`, in the form `NAME=VALUE`.
    ///   - output: standard output.
    ///   - errors: standard error; nil for that of this process.
    ///   - isGroup: whether the program begins a process group of its own, so that it can be ended together with what
    ///     it starts.
    static func spawn(
        _ path: String, _ arguments: [String], environment: [String] = [], input: PipeEnd, output: PipeEnd,
        errors: PipeEnd? = nil, isGroup: Bool = false
    ) throws(SystemError) -> pid_t {
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
        if let errors { unsafe posix_spawn_file_actions_adddup2(&actions, errors.number, 2) }
        // The server ignores SIGPIPE and blocks signals that it handles; programs expect the defaults.
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        let group = isGroup ? Int16(POSIX_SPAWN_SETPGROUP) : 0
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK) | group)
        var process: pid_t = 0
        let variables = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"] + environment
        let code = unsafe withStrings([path] + arguments) { words in
            unsafe withStrings(variables) { environment in
                unsafe posix_spawn(&process, path, &actions, &attributes, words, environment)
            }
        }
        guard code == 0 else { throw SystemError(errno: code, call: "posix_spawn") }
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
}
