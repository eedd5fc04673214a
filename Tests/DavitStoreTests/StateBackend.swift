import DavitHTTP
import DavitSQLite
import DavitStore
import DavitTesting
import DavitWebDAV

/// The stores that must fulfill the contract.
enum StateBackend: CaseIterable, Sendable {
    case memory, sqlite

    /// Creates an empty store; `folder` must outlive it.
    func makeStore(in folder: TemporaryFolder) throws -> any StateStore {
        switch self {
        case .memory: MemoryStateStore()
        case .sqlite: try SQLiteStateStore(folder: folder.path)
        }
    }
}

/// Everything that the queries of a store return.
struct StateSnapshot: Equatable {
    struct BoundLock: Equatable {
        var lock: Lock
        var binding: Binding
    }

    var records: [ResourcePath: PropertyRecord] = [:]
    var locks: [BoundLock] = []
    var intents: [RenameIntent] = []
    var uploads: [UploadRecord] = []

    init() {}

    /// Runs every query, and checks that the results are consistent.
    init(of store: any StateStore, paths: [ResourcePath]) throws {
        for (path, record) in try store.records(under: .root) { records[path] = record }
        locks = try store.locks().map { BoundLock(lock: $0.lock, binding: $0.binding) }
        intents = try store.intents()
        uploads = try store.uploads()

        var bindings: [ResourcePath: Binding] = [:]
        for (path, binding) in try store.pathsWithProperties() { bindings[path] = binding }
        guard bindings == records.mapValues(\.binding) else { throw Contradiction(question: "paths") }
        for name in Set(records.values.flatMap { $0.properties.map(\.name) }) {
            let expected = records.filter { $0.value.properties.contains { $0.name == name } }.keys
            let found = try store.paths(with: name)
            guard found.count == expected.count, Set(found) == Set(expected) else {
                throw Contradiction(question: "paths with \(name)")
            }
        }
        for path in paths {
            guard try store.record(at: path) == records[path] else {
                throw Contradiction(question: "record at \(path)")
            }
            let below = try store.records(under: path)
            let isComplete = Set(below.map(\.path)) == Set(records.keys.filter { path.contains($0) })
            guard isComplete, below.allSatisfy({ $0.record == records[$0.path] }) else {
                throw Contradiction(question: "records under \(path)")
            }
        }
        let several = Array(paths) + Array(paths.reversed())
        guard try store.records(at: several) == several.map({ records[$0] }) else {
            throw Contradiction(question: "records at several paths")
        }
    }

    struct Contradiction: Error {
        let question: String
    }
}

func path(_ text: String) -> ResourcePath {
    ResourcePath(segments: text.utf8.split(separator: UInt8(ascii: "/"))) ?? .root
}

func identity(_ inode: UInt64) -> ResourceIdentity {
    ResourceIdentity(inode: inode, birth: Int64(inode) * 10)
}

func property(_ name: String, _ value: String) -> StoredProperty {
    StoredProperty(
        name: PropertyName(namespace: "urn:x", local: name),
        value: PropertyValue(element: Array("<\(name)>\(value)</\(name)>".utf8)))
}

func record(_ binding: Binding, _ properties: StoredProperty...) -> PropertyRecord {
    PropertyRecord(binding: binding, properties: properties)
}

func upload(
    _ id: String, to collection: String, offset: Int64 = 0, length: Int64? = nil, principal: String? = nil,
    options: UploadRecord.Options = []
) -> UploadRecord {
    UploadRecord(
        id: id, collection: path(collection), name: [0xFF, 0x61], stagedName: Array(".\(id)".utf8),
        identity: identity(1 << 58), principal: principal, fieldLines: Array("If: x\r\n".utf8),
        options: options,
        progress: UploadRecord.Progress(
            length: length, offset: offset, expiry: Timestamp(nanoseconds: 1_234_567_890_123)))
}

func lock(
    _ token: String, _ root: String, _ depth: Depth = .infinity, scope: LockScope = .exclusive,
    expiry: Int64 = 100
) -> Lock {
    Lock(
        token: LockToken(uri: "urn:uuid:\(token)"), root: path(root), depth: depth, scope: scope, owner: nil,
        principal: nil, timeoutSeconds: 100, expiry: Timestamp(seconds: expiry),
        rootHref: Array("/\(root)".utf8))
}
