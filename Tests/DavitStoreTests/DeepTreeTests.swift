import DavitHTTP
import DavitStore
import DavitWebDAV
import Testing

/// COPY and MOVE below short paths can nest collections deeper than any path in a request. The in-memory
/// structures of a share must not use stack space for each level.
struct DeepTreeTests {
    private static let levels = 200_000

    private static let top = path("top")
    /// `top` and a chain of nested collections in it.
    private static let deep = ResourcePath(
        unchecked: top.bytes + Array(repeatElement(Array("/a".utf8), count: levels).joined()))

    private static func path(_ text: String) -> ResourcePath { ResourcePath(unchecked: Array(text.utf8)) }

    private static func makeState() throws -> any ShareState {
        try IndexedShareState(store: MemoryStateStore())
    }

    private static let identity = ResourceIdentity(inode: 1, birth: 1)

    private static func setProperty(of state: any ShareState) throws {
        try state.commit([
            .bind(deep, current: identity, pending: nil),
            .setProperty(
                deep,
                StoredProperty(
                    name: PropertyName(namespace: "x:", local: "p"),
                    value: PropertyValue(element: Array("<v/>".utf8)))),
        ])
    }

    private static func addLock(to state: any ShareState) throws {
        let lock = Lock(
            token: LockToken(uri: "urn:uuid:1"), root: deep, depth: .zero, scope: .exclusive, owner: nil,
            principal: nil, timeoutSeconds: 60, expiry: Timestamp(seconds: 60), rootHref: [])
        try state.commit([.bind(deep, current: identity, pending: nil), .addLock(lock)])
    }

    private static func addUpload(to state: any ShareState) throws {
        let upload = UploadRecord(
            id: "1", collection: deep, name: [0x62], stagedName: [0x63], identity: identity, principal: nil,
            fieldLines: [], options: [],
            progress: UploadRecord.Progress(length: nil, expiry: Timestamp(seconds: 60)))
        try state.commit([.putUpload(upload)])
    }

    @Test func propertiesOfADeepTreeAreRemoved() throws {
        let state = try Self.makeState()
        try Self.setProperty(of: state)
        #expect(state.hasProperties(below: Self.top))
        try state.commit([.removeRows(under: Self.top)])
        #expect(!state.hasRows(atOrUnder: Self.top))
    }

    @Test func deepTreeIsReleasedWithTheShare() throws {
        var state: (any ShareState)? = try Self.makeState()
        try Self.setProperty(of: try #require(state))
        weak let released = state
        state = nil
        #expect(released == nil)
    }

    @Test func locksOfADeepTreeAreFoundAndRemoved() throws {
        let state = try Self.makeState()
        try Self.addLock(to: state)
        #expect(state.locks(under: Self.top, now: Timestamp(seconds: 1)).map(\.root) == [Self.deep])
        #expect(state.lockCount(atOrUnder: Self.top) == 1)
        try state.commit([.removeLocks(under: Self.top)])
        #expect(!state.hasLocks)
    }

    @Test func uploadsOfADeepTreeAreMoved() throws {
        let state = try Self.makeState()
        try Self.addUpload(to: state)
        let other = Self.path("other")
        try state.commit([.moveRows(from: Self.top, to: other)])
        #expect(!state.hasRows(atOrUnder: Self.top))
        #expect(state.upload("1")?.collection == Self.deep.rebased(from: Self.top, to: other))
        try state.commit([.removeRows(under: other)])
        #expect(!state.hasUploads)
    }
}
