import DavitHTTP
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// A wrapper passes every call on to the wrapped store, unless it implements the call itself.
struct ForwardingStoreTests {
    private final class Wrapper: ForwardingStore {
        let base: any ResourceStore

        init(base: any ResourceStore) { self.base = base }
    }

    /// The compiler does not report a missing forward for a requirement with a default implementation, so the
    /// requirements are read from the sources.
    @Test func everyRequirementIsForwarded() throws {
        let recorder = RecordingStore()
        callEverything(of: Wrapper(base: recorder))
        let declared = try declarations(in: "ResourceReader") + declarations(in: "ResourceStore")
        #expect(declared.count > 30)
        #expect(recorder.calls.sorted() == declared.sorted())
    }

    @Test func declarationsAreNamedLikeCalls() {
        let source = """
            public protocol A: B {
                var x: Int { get }
                /// func comment()
                func f()
                func g(
                    _ a: Int, by b: (_ c: Int) -> Int
                ) throws(E) -> (x: Int, y: Int)
            }
            extension A { func h() {} }
            """
        #expect(Self.declarations(in: source, of: "A") == ["x", "f()", "g(_:by:)"])
    }

    private func callEverything(of store: any ResourceStore) {
        let (path, location) = (ResourcePath.root, ResourceLocation(.root))
        _ = try? store.lookup(path, last: .followed, wait: .never)
        _ = try? store.open(path, wait: .never)
        _ = try? store.openMember(path)
        _ = try? store.members(of: path)
        _ = try? store.read(NoContent(), at: 0, into: IOBuffer(capacity: 1))
        _ = try? store.lookupForChange(path, last: .followed, reusing: nil, wait: .never)
        _ = store.commitsWithoutBlocking
        _ = store.syncsChanges
        _ = try? store.locationOfFreeName(path, reusing: nil)
        _ = try? store.stageContent(for: location, expectedLength: nil, replaces: false)
        _ = try? store.stageUpload(for: location, expectedLength: nil)
        _ = try? store.upload(named: [], ResourceIdentity(inode: 0, birth: 0), for: location)
        store.keepUploads { _ in true }
        _ = try? store.stageUpdate(of: location)
        try? store.createCollection(at: location)
        _ = try? store.stageCollection(at: path)
        _ = try? store.stageCopy(
            of: path, for: path, includesMembers: true, filter: nil, heightLimit: 0)
        _ = try? store.measureHeight(of: path, limit: 0)
        _ = try? store.refersToSameEntry(path, path)
        try? store.rename(path, toFree: path)
        _ = try? store.renameInOneStep(location, toFree: location)
        try? store.rename(location, overContent: location)
        try? store.exchange(path, path)
        try? store.removeContent(at: location)
        _ = try? store.detach(path)
        try? store.removeEmptyCollection(at: path)
        try? store.setAttributes(ResourceAttributes(), at: path)
        _ = store.recordedDigests(of: Member().info, at: location)
        _ = try? store.quota(at: path)
        _ = try? store.room(at: path)
        _ = try? store.identity(at: path)
        store.removeLeftover(at: path)
        _ = try? store.trashLocation("", for: location, volume: 0)
        _ = store.trashFolder
        _ = store.mountedTrashFolders
        _ = try? store.trashed(in: path)
        _ = try? store.measure(path)
        _ = store.mountPoints
    }

    /// Returns the requirements of the protocol that a file of DavitStore declares, in the form of
    /// `#function`.
    private func declarations(in name: String) throws -> [String] {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        let path = root.joined(separator: "/") + "/Sources/DavitStore/\(name).swift"
        return Self.declarations(in: String(decoding: try SmallFiles.read(path), as: UTF8.self), of: name)
    }

    private static func declarations(in source: String, of name: String) -> [String] {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let body = lines.drop { !$0.hasPrefix("public protocol \(name):") }.dropFirst()
            .prefix { $0 != "}" }
            .map { $0.drop { $0 == " " } }.filter { !$0.hasPrefix("//") }
        var found: [String] = []
        for (index, line) in body.enumerated() {
            if line.hasPrefix("var ") {
                found.append(String(line.dropFirst(4).prefix { $0 != ":" }))
            } else if line.hasPrefix("func ") {
                found.append(signature(body[index...].joined(separator: " ").dropFirst(5)))
            }
        }
        return found
    }

    /// - Parameter text: Begins with the name of a function and its parameters.
    private static func signature(_ text: Substring) -> String {
        var signature = String(text.prefix { $0 != "(" }) + "("
        var parameters = [""]
        var depth = 0
        for character in text.drop(while: { $0 != "(" }) {
            if character == "(" || character == "[" { depth += 1 }
            if character == ")" || character == "]" { depth -= 1 }
            if depth == 0 { break }
            if depth == 1, character == "," {
                parameters.append("")
            } else {
                parameters[parameters.count - 1].append(character)
            }
        }
        for parameter in parameters {
            let label = parameter.drop { $0 == "(" || $0 == " " }.prefix { $0 != " " && $0 != ":" }
            if !label.isEmpty { signature += label + ":" }
        }
        return signature + ")"
    }
}

private final class NoContent: FileContent {
    var descriptor: Int32 { -1 }
    var length: Int64 { 0 }
}

/// Records the names of all calls. Every call that can throw an error throws one.
private final class RecordingStore: ResourceStore {
    private let names = Mutex<[String]>([])

    var calls: [String] { names.withLock { $0 } }

    private func record(_ name: String = #function) { names.withLock { $0.append(name) } }

    private func fail<R>(_ name: String = #function) throws(StoreError) -> R {
        record(name)
        throw .failed(reason: name)
    }

    func lookup(_ path: ResourcePath, last: SymlinkMode, wait: Wait) throws(StoreError) -> Lookup {
        try fail()
    }
    func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource { try fail() }
    func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource { try fail() }
    func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor { try fail() }
    func read(
        _ content: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int { try fail() }
    func lookupForChange(
        _ path: ResourcePath, last: SymlinkMode, reusing other: Lookup?, wait: Wait
    ) throws(StoreError) -> Lookup { try fail() }
    var commitsWithoutBlocking: Bool {
        record()
        return true
    }
    var syncsChanges: Bool {
        record()
        return true
    }
    func locationOfFreeName(_ path: ResourcePath, reusing other: Lookup?) throws(StoreError) -> Lookup {
        try fail()
    }
    func stageContent(
        for location: ResourceLocation, expectedLength: Int64?, replaces: Bool
    ) throws(StoreError) -> any StagedContent { try fail() }
    func stageUpload(
        for location: ResourceLocation, expectedLength: Int64?
    ) throws(StoreError) -> any UploadContent { try fail() }
    func upload(
        named stagedName: [UInt8], _ identity: ResourceIdentity, for location: ResourceLocation
    ) throws(StoreError) -> any UploadContent { try fail() }
    func keepUploads(where isKept: @escaping @Sendable (_ stagedName: [UInt8]) -> Bool) { record() }
    func stageUpdate(
        of location: ResourceLocation
    ) throws(StoreError) -> (content: any StagedContent, base: ResourceInfo) { try fail() }
    func createCollection(at location: ResourceLocation) throws(StoreError) { return try fail() }
    func stageCollection(at path: ResourcePath) throws(StoreError) -> any StagedTree { try fail() }
    func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool,
        filter: (any CopyFilter)?,
        heightLimit: Int
    ) throws(StoreError) -> any StagedTree { try fail() }
    func measureHeight(of path: ResourcePath, limit: Int) throws(StoreError) -> any HeightMeasurement {
        try fail()
    }
    func refersToSameEntry(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) -> Bool { try fail() }
    func rename(_ source: ResourcePath, toFree destination: ResourcePath) throws(StoreError) {
        return try fail()
    }
    func renameInOneStep(
        _ source: ResourceLocation, toFree destination: ResourceLocation
    ) throws(StoreError) -> Bool { try fail() }
    func rename(
        _ source: ResourceLocation, overContent destination: ResourceLocation
    ) throws(StoreError) { return try fail() }
    func exchange(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) { return try fail() }
    func removeContent(at location: ResourceLocation) throws(StoreError) { return try fail() }
    func detach(_ path: ResourcePath) throws(StoreError) -> any DetachedTree { try fail() }
    func removeEmptyCollection(at path: ResourcePath) throws(StoreError) { return try fail() }
    func setAttributes(_ attributes: ResourceAttributes, at path: ResourcePath) throws(StoreError) {
        return try fail()
    }
    func recordedDigests(of info: ResourceInfo, at location: ResourceLocation) -> [ContentDigest] {
        record()
        return []
    }
    func quota(at path: ResourcePath) throws(StoreError) -> (available: Int64, used: Int64) { try fail() }
    func room(at path: ResourcePath) throws(StoreError) -> Int64 { try fail() }
    func identity(at path: ResourcePath) throws(StoreError) -> ResourceIdentity? { try fail() }
    func removeLeftover(at path: ResourcePath) { record() }
    func trashLocation(
        _ id: String, for location: ResourceLocation, volume: UInt64
    ) throws(StoreError) -> TrashLocation? { try fail() }
    var trashFolder: ResourcePath? {
        record()
        return nil
    }
    var mountedTrashFolders: [ResourcePath] {
        record()
        return []
    }
    var mountPoints: [ResourcePath] {
        record()
        return []
    }
    func trashed(in folder: ResourcePath) throws(StoreError) -> [TrashedResource] { try fail() }
    func measure(_ path: ResourcePath) throws(StoreError) -> Int64 { try fail() }
}
