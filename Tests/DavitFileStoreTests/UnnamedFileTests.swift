import DavitFileStore
import DavitHTTP
import DavitStore
import DavitSystem
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Temporary files for uploaded content (W054 and W055 in docs/coming-from-gcdwebserver.md).
struct UnnamedFileTests {
    /// The unmodified volume, one without unnamed files, and one that also lacks exclusive renames.
    static let volumes: [[String: Int32]] = [
        [:], ["opentmpfile": Errno.notSupported],
        ["opentmpfile": Errno.notSupported, "renameat2": Errno.invalid],
    ]

    let sandbox: Sandbox
    let directory: TemporaryDirectory

    init() throws {
        sandbox = try Sandbox()
        directory = try TemporaryDirectory(path: sandbox.base + "/outside")
    }

    private func make(_ text: String, in directory: TemporaryDirectory? = nil) throws -> UnnamedFile {
        let file = try (directory ?? self.directory).makeFile(expectedBytes: nil)
        for piece in [text.prefix(3), text.dropFirst(3)] {
            try unsafe Array(piece.utf8).withUnsafeBytes { try unsafe file.write($0) }
        }
        return file
    }

    @Test(arguments: volumes)
    func fileHasNoName(missing: [String: Int32]) throws {
        try withFaults(FaultPlan(failCalls: missing)) {
            let file = try make("some bytes")
            // The file has no name even while it exists, so kill -9 leaves nothing.
            #expect(sandbox.names("../outside") == [])
            let buffer = IOBuffer(capacity: 6)
            #expect(try file.read(at: 5, into: buffer) == 5)
            #expect(unsafe buffer.withBytes { unsafe Array($0) } == Array("bytes".utf8))
            buffer.removeAll()
            #expect(try file.read(at: 10, into: buffer) == 0)
        }
    }

    @Test(arguments: volumes, [false, true])
    func fileCanBeNamed(missing: [String: Int32], isReplacing: Bool) throws {
        try withFaults(FaultPlan(failCalls: missing)) {
            if isReplacing { try sandbox.write("file", "old") }
            let file = try make("some bytes")
            try file.keep(at: sandbox.path("file"), isReplacing: isReplacing)
            #expect(sandbox.read("file") == "some bytes")
            #expect(sandbox.names() == ["file"])
            var status = stat()
            #expect(unsafe stat(sandbox.path("file"), &status) == 0)
            #expect(status.st_mode & 0o777 == mode_t(0o666 & ~Umask.bits))
            let buffer = IOBuffer(capacity: 4)
            #expect(try file.read(at: 0, into: buffer) == 4)
        }
        #expect(sandbox.names("../outside") == [])
    }

    @Test(arguments: volumes)
    func fileIsCopiedToAnotherVolume(missing: [String: Int32]) throws {
        let memory = try Sandbox(on: .memory)
        try withFaults(FaultPlan(failCalls: missing)) {
            let text = String(repeating: "0123456789", count: 60_000)
            try make(text).keep(at: memory.path("file"), isReplacing: false)
            #expect(memory.read("file") == text)
            try make("other").keep(at: memory.path("file"), isReplacing: true)
            #expect(memory.read("file") == "other")
            #expect(throws: StoreError.alreadyExists) {
                try make(text).keep(at: memory.path("file"), isReplacing: false)
            }
            #expect(memory.read("file") == "other")
        }
        #expect(memory.names() == ["file"])
    }

    @Test(arguments: volumes)
    func takenNameIsNotReplaced(missing: [String: Int32]) throws {
        try sandbox.write("file", "old")
        withFaults(FaultPlan(failCalls: missing)) {
            #expect(throws: StoreError.alreadyExists) {
                try make("some bytes").keep(at: sandbox.path("file"), isReplacing: false)
            }
        }
        #expect(sandbox.read("file") == "old")
        #expect(sandbox.names() == ["file"])
    }

    /// A file name from a client never leads to another folder (X12 in docs/coming-from-gcdwebserver.md).
    static let names: [(name: String, error: StoreError)] = [
        ("", .invalidName), (".", .invalidName), ("..", .invalidName), ("a\0b", .invalidName),
        (String(repeating: "x", count: 256), .nameTooLong), (".davit-abcdefghijklmnop", .invalidName),
        ("missing/file", .missingAncestor),
    ]

    @Test(arguments: names, [false, true])
    func unsafeNamesAreRefused(row: (name: String, error: StoreError), isReplacing: Bool) throws {
        #expect(throws: row.error) {
            try make("x").keep(at: sandbox.path(row.name), isReplacing: isReplacing)
        }
        #expect(sandbox.names() == [])
    }

    /// A symbolic link at the destination is replaced, not followed.
    @Test func linkIsReplacedNotFollowed() throws {
        #expect(unsafe symlink("../outside/target", sandbox.path("link")) == 0)
        #expect(throws: StoreError.alreadyExists) {
            try make("x").keep(at: sandbox.path("link"), isReplacing: false)
        }
        try make("x").keep(at: sandbox.path("link"), isReplacing: true)
        #expect(sandbox.read("link") == "x")
        #expect(sandbox.names("../outside") == [])
    }

    @Test func fullDiskChangesNothing() throws {
        try sandbox.write("file", "old")
        #expect(throws: StoreError.outOfSpace) { try directory.makeFile(expectedBytes: .max) }
        let file = try make("x")
        withFaults(FaultPlan(failCalls: ["write": Errno.noSpace])) {
            #expect(throws: StoreError.outOfSpace) {
                try unsafe Array("y".utf8).withUnsafeBytes { try unsafe file.write($0) }
            }
        }
        let memory = try Sandbox(on: .memory)
        try memory.write("file", "old")
        // The disk becomes full during the copy.
        withFaults(FaultPlan(failCalls: ["write": Errno.noSpace])) {
            #expect(throws: StoreError.outOfSpace) {
                try file.keep(at: memory.path("file"), isReplacing: true)
            }
        }
        #expect(memory.read("file") == "old")
        #expect(memory.names() == ["file"])
    }

    /// Whichever call fails, either the old or the new content exists, and nothing else.
    @Test(arguments: volumes)
    func failureLeavesTheOldOrTheNewContent(missing: [String: Int32]) throws {
        for step in 1... {
            try sandbox.write("file", "old")
            let plan = FaultPlan(failAt: (step, Errno.io), failCalls: missing)
            let result = withFaults(plan) {
                Result { try make("new").keep(at: sandbox.path("file"), isReplacing: true) }
            }
            let isNew = (try? result.get()) != nil
            #expect(sandbox.read("file") == (isNew ? "new" : "old"))
            if plan.count < step { break }
        }
        #expect(sandbox.read("file") == "new")
    }
}
