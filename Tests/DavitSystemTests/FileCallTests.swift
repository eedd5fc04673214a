import DavitSystem
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

struct FileCallTests {
    @Test func errorNamesTheCall() throws {
        let folder = try Folder()
        let error = #expect(throws: SystemError.self) { try folder.root.status(of: Array("none".utf8)) }
        #expect(error?.code == .noEntry)
        #expect(error?.call == "statx" || error?.call == "fstatat")
        #expect(error?.description.contains("No such file") == true)
    }

    @Test func entriesAreReadInBlocks() throws {
        let folder = try Folder()
        let names = Set((0..<500).map { "name-\($0)" } + ["..."])
        for name in names { try folder.root.makeDirectory(Array(name.utf8), mode: 0o755) }
        var block = DirectoryBlock(capacity: 4096)
        var found: [String] = []
        var reused: [UInt8] = []
        var blocks = 0
        while try block.read(from: folder.root, limitBytes: 1024) {
            blocks += 1
            block.scan { entry in
                found.append(String(decoding: entry.bytes, as: UTF8.self))
                entry.copy(to: &reused)
                #expect(reused == entry.bytes)
            }
        }
        #expect(blocks > 10)
        #expect(found.count == names.count)
        #expect(Set(found) == names)
    }

    @Test func parentIsOnlyReachableIfUnmoved() throws {
        let folder = try Folder()
        let (a, b) = (Array("a".utf8), Array("b".utf8))
        try folder.root.makeDirectory(a, mode: 0o755)
        try folder.root.makeDirectory(b, mode: 0o755)
        var position = try DirectoryPosition(at: folder.root.open(a, for: .entries))
        try position.directory.makeDirectory(b, mode: 0o755)
        try position.enter(b)
        try position.leave()
        try position.enter(b)
        try folder.root.rename(Array("a/b".utf8), to: folder.root, as: Array("b/b".utf8))
        #expect(throws: SystemError.self) { try position.leave() }
        #expect(position.path.count == 2)
    }

    @Test func pathsStayBeneathTheRoot() throws {
        let folder = try Folder()
        _ = unsafe symlink("/", folder.path + "/link")
        for walks in [false, true] {
            let root = try RootDirectory(opening: folder.path, walksComponents: walks)
            for path in ["link", "link/etc"] {
                let error = #expect(throws: SystemError.self) {
                    try root.status(at: Array(path.utf8), acceptsLink: false, mayWait: true)
                }
                #expect(error?.code == .loop, "\(path)")
                #expect(throws: SystemError.self) {
                    _ = try root.open(Array(path.utf8), for: .entries, mayWait: true)
                }
            }
            let link = try root.status(at: Array("link".utf8), acceptsLink: true, mayWait: true)
            #expect(link.kind == .symbolicLink)
        }
    }

    @Test func lockIsExclusive() throws {
        let folder = try Folder()
        let second = try folder.root.open([UInt8(ascii: ".")], for: .entries)
        #expect(try folder.root.tryLock())
        #expect(try !second.tryLock())
    }

    #if os(Linux)
    /// Kernels before 6.10 refuse a direct link with this error if the process lacks the capability.
    @Test func fileIsLinkedThroughProcIfADirectLinkIsRefused() throws {
        let folder = try Folder()
        let root = try RootDirectory(opening: folder.path)
        for (name, plan) in [("first", FaultPlan(failAt: (1, ENOENT))), ("second", FaultPlan())] {
            let file = try root.descriptor.openUnnamed(permissions: 0o600)
            try FileFaults.$plan.withValue(plan) {
                try file.linkUnnamed(to: root.descriptor, as: Array(name.utf8))
            }
            #expect(plan.calls.allSatisfy { $0 == "linkat" })
            #expect(try root.descriptor.status(of: Array(name.utf8)).identity == file.status().identity)
        }
    }
    #endif

    static let times: [(seconds: Int64, nanoseconds: Int64)] = [
        (0, 0), (1, 1), (-1, 999_999_999), (-2, 1), (4_000_000_000, 123_456_789),
    ]

    @Test(arguments: times)
    func timesBeforeAndAfterTheEpochAreSet(seconds: Int64, nanoseconds: Int64) throws {
        let folder = try Folder()
        let file = try folder.root.open(Array("file".utf8), for: .newContent, permissions: 0o600)
        try file.setModified(seconds * 1_000_000_000 + nanoseconds)
        var status = stat()
        #expect(unsafe fstat(file.rawValue, &status) == 0)
        #expect(Int64(status.st_mtim.tv_sec) == seconds)
        #expect(Int64(status.st_mtim.tv_nsec) == nanoseconds)
        #expect(try file.status().modified == seconds * 1_000_000_000 + nanoseconds)
    }

    @Test func umaskIsRead() {
        #expect(Umask.bits & ~0o777 == 0)
        let mask = umask(0o077)
        umask(mask)
        #expect(Umask.bits == UInt32(mask))
    }
}
