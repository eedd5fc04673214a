#if os(macOS)
internal import CoreServices
internal import Darwin
internal import Dispatch

/// Tells what happens to the members of directories, through FSEvents: one stream for all that is below the root.
///
/// What it tells of a name may be of several moments: that it was made is not believed, and that it is gone is looked at.
/// ``drain(_:)`` belongs to one thread at a time, the rest to any.
package final class DirectoryWatch: Sendable {
    private struct State {
        var keys: [String: Int32] = [:]
        var paths: [Int32: String] = [:]
        var lastKey: Int32 = 0
        var events: [DirectoryEvent] = []
        var isWoken = false

        mutating func note(_ path: String, _ flags: FSEventStreamEventFlags) {
            let lost = kFSEventStreamEventFlagMustScanSubDirs | kFSEventStreamEventFlagRootChanged
            if flags & FSEventStreamEventFlags(lost) != 0 {
                return events.append(DirectoryEvent(key: 0, kind: .overflow, name: []))
            }
            if let key = keys[path] { events.append(DirectoryEvent(key: key, kind: .directory, name: [])) }
            guard let slash = path.lastIndex(of: "/"), let key = keys[String(path[..<slash])] else { return }
            let isDirectory = flags & FSEventStreamEventFlags(kFSEventStreamEventFlagItemIsDir) != 0
            let gone = kFSEventStreamEventFlagItemRemoved | kFSEventStreamEventFlagItemRenamed
            let mayBeGone = flags & FSEventStreamEventFlags(gone) != 0
            let name = Array(path[path.index(after: slash)...].utf8)
            events.append(
                DirectoryEvent(
                    key: key, kind: mayBeGone ? .left : isDirectory ? .access : .changed, name: name))
        }
    }

    /// What the callback holds on to.
    private final class Inbox: Sendable {
        let monitor = Monitor(State())
    }

    private let inbox = Inbox()
    /// Stopped and let go of at the end; calls on it are safe from any thread.
    nonisolated(unsafe) private let stream: FSEventStreamRef

    /// - Parameter root: above all that will be watched, absolute and without links.
    /// - Throws: where there is no stream to be had.
    package init(root: [UInt8]) throws(SystemError) {
        var context = FSEventStreamContext()
        unsafe context.info = Unmanaged.passUnretained(inbox).toOpaque()
        let flags =
            kFSEventStreamCreateFlagFileEvents | kFSEventStreamCreateFlagWatchRoot
            | kFSEventStreamCreateFlagUseCFTypes | kFSEventStreamCreateFlagNoDefer
        let folder = [String(decoding: root, as: UTF8.self)] as CFArray
        let created = unsafe FSEventStreamCreate(
            nil, { unsafe DirectoryWatch.receive($1, $2, $3, $4) }, &context, folder,
            FSEventStreamEventId(kFSEventStreamEventIdSinceNow), 0.05, FSEventStreamCreateFlags(flags))
        guard let created = unsafe created else {
            throw SystemError(errno: ENOMEM, call: "FSEventStreamCreate")
        }
        unsafe stream = created
        unsafe FSEventStreamSetDispatchQueue(stream, DispatchQueue(label: "davit-journal"))
        guard unsafe FSEventStreamStart(stream) else {
            throw SystemError(errno: EMFILE, call: "FSEventStreamStart")
        }
    }

    deinit {
        unsafe FSEventStreamStop(stream)
        unsafe FSEventStreamInvalidate(stream)
        unsafe FSEventStreamRelease(stream)
    }

    private static func receive(
        _ info: UnsafeMutableRawPointer?, _ count: Int, _ paths: UnsafeMutableRawPointer,
        _ flags: UnsafePointer<FSEventStreamEventFlags>
    ) {
        guard let info = unsafe info else { return }
        let inbox = unsafe Unmanaged<Inbox>.fromOpaque(info).takeUnretainedValue()
        let array = unsafe Unmanaged<CFArray>.fromOpaque(paths).takeUnretainedValue() as? [String] ?? []
        let all = unsafe (0..<min(count, array.count)).map { unsafe (array[$0], flags[$0]) }
        inbox.monitor.withLock { state in
            for (path, flags) in all { state.note(path, flags) }
        }
        inbox.monitor.broadcast()
    }

    /// Watches a directory from now on.
    /// - Parameter directory: open in any way.
    /// - Returns: what names it in events; the same for a directory that is watched already.
    /// - Throws: where its path cannot be told.
    package func watch(_ directory: borrowing FileDescriptor) throws(SystemError) -> Int32 {
        var path = [CChar](repeating: 0, count: Int(MAXPATHLEN))
        let number = directory.rawValue
        _ = try FileCall.run("fcntl") { unsafe fcntl(number, F_GETPATH, &path) }
        let text = unsafe String(cString: path)
        return inbox.monitor.withLock { state in
            if let key = state.keys[text] { return key }
            state.lastKey += 1
            state.keys[text] = state.lastKey
            state.paths[state.lastKey] = text
            return state.lastKey
        }
    }

    /// Watches a directory no longer. Events that are queued still come.
    package func unwatch(_ key: Int32) {
        inbox.monitor.withLock { state in
            if let path = state.paths.removeValue(forKey: key) { state.keys[path] = nil }
        }
    }

    /// Shows all events that have happened when it is called.
    package func drain(_ body: (DirectoryEvent) -> Void) {
        unsafe FSEventStreamFlushSync(stream)
        let events = inbox.monitor.withLock { state in
            defer { state.events = [] }
            return state.events
        }
        for event in events { body(event) }
    }

    /// Blocks until there are events, or ``wake()`` was called.
    package func wait() {
        inbox.monitor.wait { !$0.events.isEmpty || $0.isWoken ? () : nil }
    }

    /// Lets every ``wait()`` return, now and in future.
    package func wake() {
        inbox.monitor.withLock { $0.isWoken = true }
        inbox.monitor.broadcast()
    }
}
#elseif canImport(Darwin)
/// There are no events of folders on this system: every folder is read whenever it is asked about.
package final class DirectoryWatch: Sendable {
    private let woken = Latch(count: 1)

    package init(root: [UInt8]) throws(SystemError) {}

    /// - Throws: always.
    package func watch(_ directory: borrowing FileDescriptor) throws(SystemError) -> Int32 {
        throw SystemError(errno: 45, call: "FSEventStreamCreate")
    }

    package func unwatch(_ key: Int32) {}

    package func drain(_ body: (DirectoryEvent) -> Void) {}

    /// Blocks until ``wake()`` was called.
    package func wait() { woken.wait() }

    package func wake() { woken.countDown() }
}
#endif
