internal import DavitHTTP
internal import DavitServer
internal import DavitSystem
internal import Synchronization

/// Objects of a slower store in a local folder, which only this process uses: another one would remove the objects that are
/// being written.
///
/// An object never changes, so that a copy is never outdated. Those that were used least recently are removed when there are too
/// many. Copies of an earlier run are compared with their digest at the first use, because they are not synced to the disk.
final class BlobCache: Sendable {
    private struct Entry {
        var length: Int64
        /// Rises with each use.
        var use: UInt64
        var isVerified: Bool
    }

    private struct State {
        var entries: [BlobKey: Entry] = [:]
        var bytes: Int64 = 0
        var uses: UInt64 = 0
        /// Objects that a thread is fetching.
        var fetching: Set<BlobKey> = []
    }

    /// Held, so that no other process uses the folder.
    private let lock: ExclusiveFolder
    private let folder: FolderBlobStore
    private let limitBytes: Int64
    private let state: Monitor<State>

    /// - Parameters:
    ///   - path: the folder, which is created if it is missing.
    ///   - limitBytes: the maximum size of all objects.
    /// - Throws: `inUse` if another process uses the folder.
    init(path: String, limitBytes: Int64) throws(BlobError) {
        do throws(ExclusiveFolder.Failure) { lock = try ExclusiveFolder(path: path) } catch {
            switch error {
            case .held(let process): throw .inUse(byProcess: process)
            case .notUsable(let error): throw BlobError(error)
            }
        }
        folder = try FolderBlobStore(path: path, syncs: false)
        self.limitBytes = limitBytes
        var state = State()
        for key in try folder.keys() {
            guard let length = try? folder.open(key).length else { continue }
            state.entries[key] = Entry(length: length, use: 0, isVerified: false)
            state.bytes += length
        }
        self.state = Monitor(state)
    }

    /// Begins an object that is also stored elsewhere.
    func create(_ key: BlobKey) throws(BlobError) -> any BlobWriter { try folder.create(key) }

    /// Records an object that was created.
    func add(_ key: BlobKey, length: Int64) {
        let removed = state.withLock { state -> [BlobKey] in
            state.uses += 1
            state.bytes += length - (state.entries[key]?.length ?? 0)
            state.entries[key] = Entry(length: length, use: state.uses, isVerified: true)
            // A tenth more, so that not each object evicts others.
            return state.bytes > limitBytes ? Self.evict(&state, until: limitBytes / 10 * 9) : []
        }
        // A file that is open can still be read.
        for key in removed { try? folder.remove(key) }
    }

    /// Takes the entries out that were used least recently, until the others have at most `bytes`.
    private static func evict(_ state: inout State, until bytes: Int64) -> [BlobKey] {
        var removed: [BlobKey] = []
        for (key, entry) in state.entries.sorted(by: { $0.value.use < $1.value.use }) {
            if state.bytes <= bytes { break }
            state.entries[key] = nil
            state.bytes -= entry.length
            removed.append(key)
        }
        return removed
    }

    func remove(_ key: BlobKey) throws(BlobError) {
        state.withLock { state in
            if let entry = state.entries.removeValue(forKey: key) { state.bytes -= entry.length }
        }
        try folder.remove(key)
    }

    /// Whether an object exists, or is being fetched.
    func contains(_ key: BlobKey) -> Bool {
        state.withLock { $0.entries[key] != nil || $0.fetching.contains(key) }
    }

    /// Opens an object, and fetches it first if it is missing: once, even if several threads want it.
    ///
    /// - Parameters:
    ///   - digest: the SHA-256 of the object; empty if it is not known.
    ///   - fetch: returns the object, whose digest has been compared.
    func open(
        _ key: BlobKey, digest: [UInt8], fetch: () throws(BlobError) -> [UInt8]
    ) throws(BlobError) -> BlobFile {
        if let file = try known(key, digest) { return file }
        state.wait { state -> Void? in
            if state.fetching.contains(key) { return nil }
            state.fetching.insert(key)
            return ()
        }
        defer {
            state.withLock { _ = $0.fetching.remove(key) }
            state.broadcast()
        }
        // Another thread may have fetched it in the meantime.
        if let file = try known(key, digest) { return file }
        let bytes = try fetch()
        do throws(BlobError) { return try store(bytes, as: key) } catch {
            guard error == .outOfSpace else { throw error }
            // Others have filled the volume.
            makeRoom()
            return try store(bytes, as: key)
        }
    }

    /// Adds an object, and opens it before another one can evict it.
    private func store(_ bytes: [UInt8], as key: BlobKey) throws(BlobError) -> BlobFile {
        let writer = try folder.create(key, digests: false)
        try unsafe bytes.span.withUnsafeBytes { bytes throws(BlobError) in try unsafe writer.append(bytes) }
        _ = try writer.finish()
        let file = try folder.open(key)
        add(key, length: Int64(bytes.count))
        return file
    }

    /// Removes half of the objects, those that were used least recently.
    private func makeRoom() {
        let removed = state.withLock { state in Self.evict(&state, until: state.bytes / 2) }
        for key in removed { try? folder.remove(key) }
    }

    /// Returns an object of the cache; nil if it is missing or damaged.
    private func known(_ key: BlobKey, _ digest: [UInt8]) throws(BlobError) -> BlobFile? {
        let entry = state.withLock { state -> Entry? in
            state.uses += 1
            state.entries[key]?.use = state.uses
            return state.entries[key]
        }
        guard let entry, let file = try? folder.open(key), file.length == entry.length else { return nil }
        if entry.isVerified { return file }
        guard Self.matches(file, digest) else {
            try remove(key)
            return nil
        }
        state.withLock { $0.entries[key]?.isVerified = true }
        return file
    }

    private static func matches(_ file: BlobFile, _ digest: [UInt8]) -> Bool {
        guard let bytes = try? file.bytes() else { return false }
        return BlobDigest.matches(bytes, digest)
    }
}

/// Comparing objects with their digests.
enum BlobDigest {
    /// Whether bytes have a SHA-256; true if it is not known, or if this build has none.
    static func matches(_ bytes: [UInt8], _ digest: [UInt8]) -> Bool {
        if digest.isEmpty { return true }
        guard let running = RunningDigest(.sha256) else { return true }
        unsafe bytes.withUnsafeBytes { unsafe running.update($0) }
        return running.finish()?.bytes == digest
    }

    /// Returns the SHA-256 in hexadecimal digits; nil if this build has none.
    static func text(of bytes: [UInt8]) -> String? {
        guard let running = RunningDigest(.sha256) else { return nil }
        unsafe bytes.withUnsafeBytes { unsafe running.update($0) }
        return running.finish().map { digits($0.bytes) }
    }

    /// Returns bytes in hexadecimal digits.
    static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
