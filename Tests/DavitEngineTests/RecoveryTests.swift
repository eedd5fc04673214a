import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import DavitWebDAV
import Testing

/// Recovery of an interrupted rename at startup. Letters stand for files: `m` was moved, `r` was replaced,
/// `o` is the original of a copy, `x` is unrelated.
struct RecoveryTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The files at the time of the crash: path and file.
        var before: [String: String]
        var isReplacing = false
        var isCopy = false
        var hasOrigin = false
        /// The files after recovery.
        var after: [String: String]
        /// The path of the properties of `m` after recovery.
        var rows: String?
    }

    /// A reserved name, used while a copy is built.
    static let staged = ".davit-aaaaaaaaaaaaaaaa"

    static let rows = [
        Row(
            testDescription: "the record of a move that did not happen is dropped", before: ["a": "m"],
            after: ["a": "m"],
            rows: "a"),
        Row(
            testDescription: "a completed move also moves the properties", before: ["b": "m"],
            after: ["b": "m"], rows: "b"),
        Row(
            testDescription: "the replaced file of an exchange is removed", before: ["a": "r", "b": "m"],
            isReplacing: true, after: ["b": "m"], rows: "b"),
        Row(
            testDescription: "an exchange that hid the replaced file is completed", before: ["a": "m"],
            isReplacing: true, after: ["b": "m"], rows: "b"),
        Row(
            testDescription: "a file created at the source since then is kept",
            before: ["a": "x", "b": "m"],
            isReplacing: true, after: ["a": "x", "b": "m"], rows: "b"),
        Row(
            testDescription: "an unpublished copy is dropped, and its original is kept",
            before: ["a": "o", staged: "m"], isCopy: true, hasOrigin: true, after: ["a": "o", staged: "m"]),
        Row(
            testDescription: "the original of a copy is kept", before: ["a": "o", "b": "m"], isCopy: true,
            after: ["a": "o", "b": "m"], rows: "b"),
        Row(
            testDescription: "a move across volumes: after the copy is published the original is removed",
            before: ["a": "o", "b": "m"], isCopy: true, hasOrigin: true, after: ["b": "m"], rows: "b"),
        Row(
            testDescription: "a move across volumes: the replaced file is removed, too",
            before: ["a": "o", "b": "m", staged: "r"], isReplacing: true, isCopy: true, hasOrigin: true,
            after: ["b": "m"], rows: "b"),
        Row(
            testDescription: "a move across volumes: a file created at the original path is kept",
            before: ["a": "x", "b": "m"], isCopy: true, hasOrigin: true, after: ["a": "x", "b": "m"],
            rows: "b"),
    ]

    @Test(arguments: rows)
    func recoveryAtStartupMatchesTheTable(_ row: Row) throws {
        let folder = try TemporaryFolder()
        let resources = try FileResourceStore(root: folder.path)
        let places = ["a", "b", Self.staged]
        // Identities for files that do not exist at the time of the crash.
        var identities: [String: ResourceIdentity] = [:]
        for (number, name) in ["m", "r", "o", "x"].enumerated() {
            identities[name] = ResourceIdentity(inode: UInt64(number), birth: -1)
        }
        for (location, file) in row.before {
            identities[file] = try Self.makeFile(at: location, in: resources)
        }
        let state = try IndexedShareState(store: MemoryStateStore())
        try state.commit(Self.interrupted(row, identities))

        let share = Share(
            resources: resources, state: state, work: InlineRecoveryWork(),
            configuration: ShareConfiguration(),
            now: { Timestamp(seconds: 1_800_000_000) }, report: { Issue.record("\($0)") })
        share.recovery.removesLeftovers()
        try share.recovery.recover()

        #expect(try state.intents() == [])
        for location in places {
            let identity = try resources.identity(at: Self.path(location))
            #expect(identity == row.after[location].flatMap { identities[$0] }, "\(location)")
            #expect(state.hasRows(at: Self.path(location)) == (location == row.rows), "\(location)")
        }
    }

    private static func interrupted(_ row: Row, _ identities: [String: ResourceIdentity]) throws
        -> [StateChange]
    {
        let source = path(row.isCopy ? staged : "a")
        let moved = try #require(identities["m"])
        let original = try #require(identities["o"])
        let property = StoredProperty(
            name: PropertyName(namespace: "urn:x", local: "p"),
            value: PropertyValue(element: Array("<p/>".utf8)))
        var changes: [StateChange] = [
            .putIntent(
                RenameIntent(
                    id: 1, source: source, destination: path("b"), moved: moved,
                    replaced: row.isReplacing ? identities["r"] : nil, isCopy: row.isCopy,
                    origin: row.hasOrigin ? RenameIntent.Origin(path: path("a"), identity: original) : nil)),
            .putRecord(source, PropertyRecord(binding: Binding(identity: moved), properties: [property])),
        ]
        if row.hasOrigin && row.rows == "b" {
            // Recovery must remove these rows together with the original.
            changes.append(
                .putRecord(
                    path("a"), PropertyRecord(binding: Binding(identity: original), properties: [property])))
        }
        return changes
    }

    private static func path(_ name: String) -> ResourcePath {
        ResourcePath.root.appending(Array(name.utf8)) ?? .root
    }

    /// Creates a file at a path that may be a reserved name.
    private static func makeFile(at location: String, in resources: FileResourceStore) throws
        -> ResourceIdentity
    {
        let staged = try resources.stageContent(for: path("new"), expectedLength: 0)
        let info = try staged.seal(replacing: nil, modified: nil)
        try staged.publish(isReplacing: false)
        try resources.rename(path("new"), toFree: path(location))
        return info.identity
    }
}

/// Runs recovery on the calling thread.
private struct InlineRecoveryWork: BlockingWorkRunner {
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { work() }
}
