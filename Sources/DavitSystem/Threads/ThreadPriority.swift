/// The priority of threads, relative to other programs.
public enum ThreadPriority: Sendable {
    /// The priority of the process.
    case normal
    /// Lower: a nice value of 10 on Linux, the quality of service class "utility" on Apple systems.
    case low
    /// The lowest: a nice value of 19 on Linux, the class "background" on Apple systems, which also limits the
    /// use of the disk.
    case background

    /// The priority of long work on a server whose other threads have this priority.
    var ofLongWork: ThreadPriority { self == .background ? .background : .low }
}
