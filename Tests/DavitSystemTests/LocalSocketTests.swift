import DavitSystem
import DavitTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

struct LocalSocketTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func connect(to path: String) throws -> LocalConnection {
        try LocalConnection(folder: path, name: "s", timeoutSeconds: 60)
    }

    /// Connects, and exchanges data in both directions.
    private func exchange(through listener: borrowing LocalListener, in path: String) throws {
        let client = try connect(to: path)
        let accepted = try listener.accept()
        guard let server = accepted else {
            Issue.record("no connection is pending")
            return
        }
        #expect(server.peerUser == LocalConnection.ownUser)
        #expect(client.peerUser == LocalConnection.ownUser)
        try client.send([1, 2, 3])
        #expect(try server.receive() == [1, 2, 3])
        try server.send([4])
        #expect(try client.receive() == [4])
    }

    @Test func connectionTransfersDataBothWays() throws {
        let listener = try LocalListener(folder: folder.path, name: "s")
        #expect(try listener.accept() == nil)
        try exchange(through: listener, in: folder.path)
        try exchange(through: listener, in: folder.path)
    }

    @Test func socketIsAccessibleOnlyToItsOwner() throws {
        let listener = try LocalListener(folder: folder.path, name: "s")
        var status = stat()
        #expect(unsafe lstat(folder.path + "/s", &status) == 0)
        #expect(status.st_mode == S_IFSOCK | 0o600)
        #expect(listener.number >= 0)
    }

    #if os(Linux)
    /// A path of up to 107 bytes fits into an address; a file name has up to 255 bytes.
    @Test(arguments: 90...112) func pathsMayHaveAnyLength(count: Int) throws {
        for length in [count, 255] {
            let name = String(repeating: "x", count: length - folder.path.utf8.count % 20)
            let deep = folder.path + "/" + name
            try #require(unsafe mkdir(deep, 0o700) == 0)
            let listener = try LocalListener(folder: deep, name: "s")
            try exchange(through: listener, in: deep)
            listener.removeName()
            #expect(throws: SystemError.self) { try ExclusiveFolder.canonical(deep + "/s") }
        }
    }
    #endif

    @Test func nameOfAnEndedListenerCanBeReused() throws {
        do { _ = try LocalListener(folder: folder.path, name: "s") }
        let error = #expect(throws: SystemError.self) { _ = try connect(to: folder.path) }
        #expect(error?.isNotListening == true)
        let listener = try LocalListener(folder: folder.path, name: "s")
        try exchange(through: listener, in: folder.path)
        listener.removeName()
        let missing = #expect(throws: SystemError.self) { _ = try connect(to: folder.path) }
        #expect(missing?.isNotListening == true)
        #expect(missing?.code == .noEntry)
    }

    @Test func disconnectedPeerEndsTheInput() throws {
        let listener = try LocalListener(folder: folder.path, name: "s")
        let client = try connect(to: folder.path)
        do { _ = try listener.accept() }
        #expect(try client.receive() == [])
        #expect(throws: SystemError.self) { try client.send([1]) }
    }

    @Test func readTimesOut() throws {
        let listener = try LocalListener(folder: folder.path, name: "s")
        let client = try LocalConnection(folder: folder.path, name: "s", timeoutSeconds: 1)
        let error = #expect(throws: SystemError.self) { _ = try client.receive() }
        #expect(error?.code == .again)
        #expect(listener.number >= 0)
    }
}
