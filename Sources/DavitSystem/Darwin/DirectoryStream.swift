#if os(macOS)
internal import CoreServices
internal import Darwin
internal import Dispatch

/// Reports changes to the members of directories through FSEvents, with one stream for everything below the
/// roots.
///
/// An event may combine several changes of a name, so a creation flag is ignored and a removal flag must be
/// checked by the receiver. ``drain(_:)`` must be called by one thread at a time; the other methods by any
/// thread.
@safe package final class DirectoryWatch: Sendable {
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
                    key: key, kind: mayBeGone ? .left : isDirectory ? .access : .changed,
                    isDirectory: isDirectory, name: name))
        }
    }

    /// The object that the callback refers to.
    private final class Inbox: Sendable {
        let monitor = Monitor(State())
    }

    private let inbox = Inbox()
    /// Stopped and released in `deinit`; its functions can be called on any thread.
    nonisolated(unsafe) private let stream: FSEventStreamRef

    /// - Parameter roots: contain all directories that will be watched; absolute and without links.
    /// - Throws: an error if no stream can be created or started.
    package init(roots: [[UInt8]]) throws(SystemError) {
        // The stream owns one reference, so that a callback in progress keeps the inbox alive.
        var context = unsafe FSEventStreamContext()
        unsafe context.info = Unmanaged.passRetained(inbox).toOpaque()
        unsafe context.release = { info in
            if let info = unsafe info { unsafe Unmanaged<Inbox>.fromOpaque(info).release() }
        }
        let flags =
            kFSEventStreamCreateFlagFileEvents | kFSEventStreamCreateFlagWatchRoot
            | kFSEventStreamCreateFlagNoDefer
        guard let folder = Self.paths(roots) else {
            throw SystemError(errno: ENOMEM, call: "CFArrayCreateMutable")
        }
        let created = unsafe FSEventStreamCreate(
            nil,
            { _, info, count, paths, flags, _ in unsafe DirectoryWatch.receive(info, count, paths, flags) },
            &context, folder, FSEventStreamEventId(kFSEventStreamEventIdSinceNow), 0.05,
            FSEventStreamCreateFlags(flags))
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

    /// Converts an array of paths. Conversions from Swift arrays and strings would need Foundation.
    private static func paths(_ paths: [[UInt8]]) -> CFArray? {
        let array = unsafe CFArrayCreateMutable(nil, paths.count, &kCFTypeArrayCallBacks)
        for path in paths {
            let text = unsafe CFStringCreateWithBytes(
                nil, path, path.count, CFStringBuiltInEncodings.UTF8.rawValue, false)
            if let text { unsafe CFArrayAppendValue(array, Unmanaged.passUnretained(text).toOpaque()) }
        }
        return array
    }

    /// - Parameter paths: `count` C strings.
    private static func receive(
        _ info: UnsafeMutableRawPointer?, _ count: Int, _ paths: UnsafeMutableRawPointer,
        _ flags: UnsafePointer<FSEventStreamEventFlags>
    ) {
        guard let info = unsafe info else { return }
        let inbox = unsafe Unmanaged<Inbox>.fromOpaque(info).takeUnretainedValue()
        let names = unsafe paths.assumingMemoryBound(to: UnsafePointer<CChar>.self)
        let all = unsafe (0..<count).map { unsafe (String(cString: names[$0]), flags[$0]) }
        inbox.monitor.withLock { state in
            for (path, flags) in all { state.note(path, flags) }
        }
        inbox.monitor.broadcast()
    }

    /// Starts watching a directory.
    /// - Parameter directory: open in any mode.
    /// - Returns: the key that identifies the directory in events; the existing one if it is already watched.
    /// - Throws: an error if its path cannot be determined.
    package func watch(_ directory: borrowing FileDescriptor) throws(SystemError) -> Int32 {
        var path = [CChar](repeating: 0, count: Int(MAXPATHLEN))
        let number = directory.rawValue
        _ = try FileCall.run("fcntl") { unsafe fcntl(number, F_GETPATH, &path) }
        let bytes = path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let text = String(decoding: bytes, as: UTF8.self)
        return inbox.monitor.withLock { state in
            if let key = state.keys[text] { return key }
            state.lastKey += 1
            state.keys[text] = state.lastKey
            state.paths[state.lastKey] = text
            return state.lastKey
        }
    }

    /// Stops watching a directory. Events that are already queued are still delivered.
    package func unwatch(_ key: Int32) {
        inbox.monitor.withLock { state in
            if let path = state.paths.removeValue(forKey: key) { state.keys[path] = nil }
        }
    }

    /// Passes all events that have occurred so far to `body`.
    package func drain(_ body: (DirectoryEvent) -> Void) {
        unsafe FSEventStreamFlushSync(stream)
        let events = inbox.monitor.withLock { state in
            defer { state.events = [] }
            return state.events
        }
        for event in events { body(event) }
    }

    /// Blocks until events are available or ``wake()`` is called.
    package func wait() {
        inbox.monitor.wait { !$0.events.isEmpty || $0.isWoken ? () : nil }
    }

    /// Makes every current and future ``wait()`` return.
    package func wake() {
        inbox.monitor.withLock { $0.isWoken = true }
        inbox.monitor.broadcast()
    }
}
#elseif canImport(Darwin)
/// A placeholder for systems without directory events, where every query reads the folders again.
package final class DirectoryWatch: Sendable {
    private let woken = Latch(count: 1)

    package init(roots: [[UInt8]]) throws(SystemError) {}

    /// - Throws: an error, always.
    package func watch(_ directory: borrowing FileDescriptor) throws(SystemError) -> Int32 {
        throw SystemError(errno: 45, call: "FSEventStreamCreate")
    }

    package func unwatch(_ key: Int32) {}

    package func drain(_ body: (DirectoryEvent) -> Void) {}

    /// Blocks until ``wake()`` is called.
    package func wait() { woken.wait() }

    package func wake() { woken.countDown() }
}
#endif
