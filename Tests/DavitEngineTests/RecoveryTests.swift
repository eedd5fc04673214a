import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import DavitWebDAV
import Testing

/// What the start makes of a rename that a crash cut in two. Letters stand for files: `m` is what was moved,
/// `r` what it replaced, `o` the original of a copy, `x` somebody else's.
struct RecoveryTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Which file is where when the server died: path and file.
        var before: [String: String]
        var isReplacing = false
        var isCopy = false
        var hasOrigin = false
        /// Which file is where afterwards.
        var after: [String: String]
        /// Where the properties of `m` are afterwards.
        var rows: String?
    }

    /// A reserved name: where a copy is built.
    static let staged = ".davit-aaaaaaaaaaaaaaaa"

    static let rows = [
        Row(
            testDescription: "a move that did not happen is forgotten", before: ["a": "m"], after: ["a": "m"],
            rows: "a"),
        Row(
            testDescription: "a move that happened takes its properties along", before: ["b": "m"],
            after: ["b": "m"], rows: "b"),
        Row(
            testDescription: "what an exchange replaced goes", before: ["a": "r", "b": "m"],
            isReplacing: true, after: ["b": "m"], rows: "b"),
        Row(
            testDescription: "an exchange in steps that hid what it replaces is finished", before: ["a": "m"],
            isReplacing: true, after: ["b": "m"], rows: "b"),
        Row(
            testDescription: "what somebody put at the source since then stays",
            before: ["a": "x", "b": "m"],
            isReplacing: true, after: ["a": "x", "b": "m"], rows: "b"),
        Row(
            testDescription: "a copy that is not in place is forgotten, and its original stays",
            before: ["a": "o", staged: "m"], isCopy: true, hasOrigin: true, after: ["a": "o", staged: "m"]),
        Row(
            testDescription: "the original of a copy stays", before: ["a": "o", "b": "m"], isCopy: true,
            after: ["a": "o", "b": "m"], rows: "b"),
        Row(
            testDescription: "a move across volumes: once the copy is in place the original goes",
            before: ["a": "o", "b": "m"], isCopy: true, hasOrigin: true, after: ["b": "m"], rows: "b"),
        Row(
            testDescription: "a move across volumes: so does what the copy replaced",
            before: ["a": "o", "b": "m", staged: "r"], isReplacing: true, isCopy: true, hasOrigin: true,
            after: ["b": "m"], rows: "b"),
        Row(
            testDescription: "a move across volumes: what somebody put in the original's place stays",
            before: ["a": "x", "b": "m"], isCopy: true, hasOrigin: true, after: ["a": "x", "b": "m"],
            rows: "b"),
    ]

    @Test(arguments: rows)
    func recovers(_ row: Row) throws {
        let folder = try TemporaryFolder()
        let resources = try FileResourceStore(root: folder.path)
        let places = ["a", "b", Self.staged]
        // Files that were never there have an identity too.
        var identities: [String: ResourceIdentity] = [:]
        for (number, name) in ["m", "r", "o", "x"].enumerated() {
            identities[name] = ResourceIdentity(inode: UInt64(number), birth: -1)
        }
        for (place, file) in row.before {
            identities[file] = try Self.makeFile(at: place, in: resources)
        }
        let state = try ShareState(store: MemoryStateStore())
        try state.commit(Self.interrupted(row, identities))

        let share = Share(
            resources: resources, state: state, work: NoWork(), configuration: ShareConfiguration(),
            now: { Timestamp(seconds: 1_800_000_000) }, report: { Issue.record("\($0)") })
        share.removesLeftovers()
        try share.recover()

        #expect(try state.intents() == [])
        for place in places {
            let identity = try resources.identity(at: Self.path(place))
            #expect(identity == row.after[place].flatMap { identities[$0] }, "\(place)")
            #expect(state.hasRows(at: Self.path(place)) == (place == row.rows), "\(place)")
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
                Intent(
                    id: 1, source: source, destination: path("b"), moved: moved,
                    replaced: row.isReplacing ? identities["r"] : nil, isCopy: row.isCopy,
                    origin: row.hasOrigin ? Intent.Origin(path: path("a"), identity: original) : nil)),
            .putRecord(source, PropertyRecord(binding: Binding(identity: moved), properties: [property])),
        ]
        if row.hasOrigin && row.rows == "b" {
            // Those of the original go with it.
            changes.append(
                .putRecord(
                    path("a"), PropertyRecord(binding: Binding(identity: original), properties: [property])))
        }
        return changes
    }

    private static func path(_ name: String) -> ResourcePath {
        ResourcePath.root.appending(Array(name.utf8)) ?? .root
    }

    /// Makes a file at a place that may be a reserved name.
    private static func makeFile(at place: String, in resources: FileResourceStore) throws -> ResourceIdentity
    {
        let staged = try resources.stageContent(for: path("new"), expectedLength: 0)
        let info = try staged.seal(replacing: nil, modified: nil)
        try staged.publish(isReplacing: false)
        try resources.rename(path("new"), toFree: path(place))
        return info.identity
    }
}

/// Recovery runs where it is called.
private struct NoWork: BlockingWork {
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { work() }
}
