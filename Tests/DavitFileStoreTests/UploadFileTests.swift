import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Synchronization
import Testing

/// Content that is received in several requests.
struct UploadFileTests {
    /// The unmodified volume, and one without exclusive renames.
    static let volumes: [[String: Int32]] = [[:], ["renameat2": Errno.invalid]]

    @Test(arguments: volumes)
    func uploadSurvivesItsObjectAndIsPublishedAtomically(missing: [String: Int32]) throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        store.keepUploads { _ in true }
        try withFaults(FaultPlan(failCalls: missing)) {
            let location = ResourceLocation(try resource("file"))
            let (name, identity) = try {
                let upload = try store.stageUpload(for: location, expectedLength: nil)
                try upload.write(buffer("one, "))
                return (upload.stagedName, upload.identity)
            }()
            #expect(try store.list("").isEmpty)
            let upload = try store.upload(named: name, identity, for: location)
            #expect(upload.length == 5)
            try upload.write(buffer("two and wrong"))
            try upload.truncate(to: 8)
            try upload.write(buffer(", three"))
            let info = try upload.seal(replacing: nil, modified: nil)
            try upload.publish(isReplacing: false)
            #expect(info.identity == identity)
            #expect(info.length == 15)
            #expect(sandbox.read("file") == "one, two, three")
            #expect(throws: StoreError.notFound) { try store.upload(named: name, identity, for: location) }
        }
        #expect(sandbox.names() == ["file"])
    }

    @Test func uploadInUseIsNotSwept() throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        let kept = Mutex<Set<[UInt8]>>([])
        store.keepUploads { name in kept.withLock { $0.contains(name) } }
        let name = try {
            let upload = try store.stageUpload(for: ResourceLocation(resource("file")), expectedLength: nil)
            kept.withLock { _ = $0.insert(upload.stagedName) }
            return upload.stagedName
        }()
        store.sweepLeftovers { false }
        _ = try store.list("")
        #expect(sandbox.names() == [String(decoding: name, as: UTF8.self)])
        kept.withLock { $0 = [] }
        #expect(sandbox.isSwept(by: store))
        #expect(sandbox.names() == [])
    }

    /// The stack depth of this query is constant. In an earlier version, the depth grew with each lookup of a
    /// folder.
    @Test func queryForUsedUploadsHasConstantDepth() throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        let depths = Mutex<[UInt]>([])
        store.keepUploads { _ in
            var local: UInt8 = 0
            let location = unsafe withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
            depths.withLock { $0.append(location) }
            return true
        }
        let upload = try store.stageUpload(for: ResourceLocation(resource("file")), expectedLength: nil)
        for _ in 0..<500 { _ = try store.list("") }
        let found = depths.withLock { $0 }
        let (low, high) = (try #require(found.min()), try #require(found.max()))
        #expect(found.count >= 500 && high - low < 4096, "\(high - low) bytes of the stack")
        try upload.remove()
    }

    @Test func replacedFileIsNotMistakenForTheUpload() throws {
        let sandbox = try Sandbox()
        let store = try sandbox.store()
        store.keepUploads { _ in true }
        let location = ResourceLocation(try resource("file"))
        let upload = try store.stageUpload(for: location, expectedLength: nil)
        let other = ResourceIdentity(inode: upload.identity.inode &+ 1, birth: upload.identity.birth)
        #expect(throws: StoreError.notFound) {
            try store.upload(named: upload.stagedName, other, for: location)
        }
        #expect(throws: StoreError.notFound) {
            try store.upload(named: Array("file".utf8), upload.identity, for: location)
        }
        try upload.remove()
        try upload.remove()
        #expect(sandbox.names() == [])
    }
}
