import DavitSystem
import DavitTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

struct LocalSocketFileTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/s" }

    init() throws { folder = try TemporaryFolder() }

    private func open(mode: UInt32 = 0o600, file: inout LocalSocketFile?) throws(SystemError)
        -> FileDescriptor
    {
        try LocalSocketFile.listen(path: path, mode: mode, backlog: 16, file: &file)
    }

    private func mode() -> UInt32? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? UInt32(status.st_mode) : nil
    }

    @Test(arguments: [0o600, 0o660, 0o666] as [UInt32])
    func fileHasTheModeOfTheSocket(mode: UInt32) throws {
        var file: LocalSocketFile?
        let socket = try open(mode: mode, file: &file)
        #expect(self.mode() == UInt32(S_IFSOCK) | mode)
        _ = try LocalConnection(folder: folder.path, name: "s", timeoutSeconds: 60)
        guard case .accepted(_, let peer) = Socket.accept(from: socket.rawValue) else {
            Issue.record("no connection is pending")
            return
        }
        #expect(peer == .local && peer.isLoopback)
        file?.remove()
        #expect(self.mode() == nil)
        // Removing the socket again must not remove a new file at its path.
        try folder.makeFile("s")
        file?.remove()
        #expect(self.mode() != nil)
    }

    @Test func nameOfAnActiveListenerIsInUse() throws {
        var file: LocalSocketFile?
        let first = try open(file: &file)
        var other: LocalSocketFile?
        let error = #expect(throws: SystemError.self) { _ = try open(file: &other) }
        #expect(error?.bindingKind == .addressInUse)
        #expect(first.rawValue >= 0 && other == nil && mode() != nil)
    }

    @Test func abandonedSocketIsReplaced() throws {
        var old: LocalSocketFile?
        do { _ = try open(file: &old) }
        try #require(mode() != nil)
        var new: LocalSocketFile?
        let socket = try open(file: &new)
        _ = try LocalConnection(folder: folder.path, name: "s", timeoutSeconds: 60)
        #expect(socket.rawValue >= 0)
    }

    /// The file was removed, and another server now uses the path.
    @Test func nameOfAnotherListenerIsNotRemoved() throws {
        var old: LocalSocketFile?
        let first = try open(file: &old)
        try #require(unsafe unlink(path) == 0)
        var new: LocalSocketFile?
        let second = try open(file: &new)
        old?.remove()
        _ = try LocalConnection(folder: folder.path, name: "s", timeoutSeconds: 60)
        new?.remove()
        #expect(mode() == nil && first.rawValue >= 0 && second.rawValue >= 0)
    }

    @Test func fileThatIsNotASocketIsNotReplaced() throws {
        try folder.makeFile("s")
        var file: LocalSocketFile?
        let error = #expect(throws: SystemError.self) { _ = try open(file: &file) }
        #expect(error?.bindingKind == .notASocket)
        #expect(mode().map { $0 & UInt32(S_IFMT) } == UInt32(S_IFREG))
    }

    @Test func missingFolderIsAnError() {
        var file: LocalSocketFile?
        let error = #expect(throws: SystemError.self) {
            _ = try LocalSocketFile.listen(path: folder.path + "/no/s", mode: 0o600, backlog: 1, file: &file)
        }
        #expect(error?.errno == ENOENT)
    }

    @Test func onlyListeningSocketsAreAdopted() throws {
        var file: LocalSocketFile?
        let socket = try open(file: &file)
        let number = socket.rawValue
        #expect(try Socket.localPath(of: number) == path)
        let adopted = try Socket.adoptListener(number)
        #expect(try Socket.localPath(of: adopted.rawValue) == path)
        for descriptor in [number, adopted.rawValue] {
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
            #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
        }
        let client = try LocalConnection(folder: folder.path, name: "s", timeoutSeconds: 60)
        let error = #expect(throws: SystemError.self) { _ = try Socket.adoptListener(client.number) }
        #expect(error?.errno == EINVAL)
        #expect(throws: SystemError.self) { _ = try Socket.adoptListener(-1) }
    }

    // The IPv4-mapped address that a dual-stack socket reports for an IPv4 peer (RFC 4291 §2.5.5.2).
    @Test func ipv4PeerOfAnIPv6SocketIsIPv4() throws {
        let number = socket(AF_INET6, Int32(1), 0)
        try #require(number >= 0)
        let listener = FileDescriptor(owning: number)
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        let size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(number, $0, size) }
        }
        try #require(bound == 0 && listen(number, 1) == 0)
        let port = try Socket.localAddress(of: number).port
        let client = try Socket.connect(to: .ipv4Loopback(port: port))
        guard case .accepted(_, let peer) = Socket.accept(from: listener.rawValue) else {
            Issue.record("no connection is pending")
            return
        }
        #expect(peer == .ipv4Loopback(port: peer.port) && client.rawValue >= 0)
        #expect(try !Socket.localAddress(of: number).isLoopback)
    }
}
