#if Postgres
import DavitSystem
import Synchronization
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A proxy between clients and a server, on Unix sockets, which loses what a test requires.
final class Proxy: Sendable {
    enum Fault: Sendable {
        case none
        /// Passes requests on, and cuts the connection when the server answers.
        case loseAnswers
        /// Cuts the connection when the client sends anything, without passing it on.
        case loseRequests
        /// Keeps requests until ``deliver()``, also if the client closes the connection.
        case delayRequests
        /// Passes nothing on, in any direction, and keeps the connection open.
        case silence
    }

    private final class Link: Sendable {
        let client: Int32
        let server: Int32
        let state = Mutex((fault: Fault.none, delayed: [UInt8]()))

        init(client: Int32, server: Int32) {
            self.client = client
            self.server = server
        }

        func cut() {
            _ = shutdown(client, Int32(SHUT_RDWR))
            _ = shutdown(server, Int32(SHUT_RDWR))
        }
    }

    private let target: String
    private let listener: Int32
    private let links = Mutex<[Link]>([])
    private let refuses = Mutex(false)
    private let attempts = Mutex(0)
    /// A fault, and the number of further requests after which it happens.
    private let planned = Mutex<(fault: Fault, requests: Int)?>(nil)

    /// - Parameters:
    ///   - folder: an empty folder for the socket of the proxy.
    ///   - target: the folder with the socket of the server.
    init(in folder: String, to target: String) throws {
        self.target = target + "/.s.PGSQL.5432"
        listener = Self.socket()
        let path = folder + "/.s.PGSQL.5432"
        let isBound = unsafe Self.withAddress(of: path) { unsafe bind(listener, $0, $1) } == 0
        expect(isBound && listen(listener, 100) == 0, "the proxy listens")
        try SystemThread.start(named: "proxy") { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { continue }
                attempts.withLock { $0 += 1 }
                connectToServer(client)
            }
        }
    }

    /// The number of connections that clients have opened, refused ones included.
    var attemptCount: Int { attempts.withLock { $0 } }

    func refuseConnections(_ refuses: Bool) { self.refuses.withLock { $0 = refuses } }

    /// Applies to the connections that are open now, and not to later ones.
    func inject(_ fault: Fault) {
        for link in links.withLock({ $0 }) { link.state.withLock { $0.fault = fault } }
    }

    /// Applies to the connection on which the given number of requests, on all connections together, is reached.
    func plan(_ fault: Fault, request: Int) { planned.withLock { $0 = (fault, request) } }

    /// Whether the planned fault has not happened; cancels it.
    func cancelPlan() -> Bool {
        planned.withLock { planned in
            defer { planned = nil }
            return planned != nil
        }
    }

    private func plannedFault() -> Fault? {
        planned.withLock { planned in
            guard let current = planned else { return nil }
            planned = current.requests > 1 ? (current.fault, current.requests - 1) : nil
            return planned == nil ? current.fault : nil
        }
    }

    /// Passes on what ``Fault/delayRequests`` has kept, and then ends these connections to the server.
    func deliver() {
        for link in links.withLock({ $0 }) {
            link.state.withLock { state in
                guard !state.delayed.isEmpty else { return }
                Self.send(state.delayed, to: link.server)
                state.delayed = []
                _ = shutdown(link.server, Int32(SHUT_WR))
            }
        }
    }

    /// Cuts the connections of clients, without the server noticing.
    func cut() {
        for link in links.withLock({ $0 }) where link.state.withLock({ $0.fault }) != .none {
            _ = shutdown(link.client, Int32(SHUT_RDWR))
        }
    }

    var hasDelayedRequests: Bool {
        links.withLock { $0 }.contains { $0.state.withLock { !$0.delayed.isEmpty } }
    }

    private func connectToServer(_ client: Int32) {
        let server = Self.socket()
        guard !refuses.withLock({ $0 }),
            unsafe Self.withAddress(of: target, { unsafe connect(server, $0, $1) }) == 0
        else {
            close(client)
            close(server)
            return
        }
        let link = Link(client: client, server: server)
        links.withLock { $0.append(link) }
        do {
            try SystemThread.start(named: "requests") { [self] in passRequests(link) }
            try SystemThread.start(named: "answers") { Self.passAnswers(link) }
        } catch { link.cut() }
    }

    private func passRequests(_ link: Link) {
        while let bytes = Self.receive(from: link.client) {
            link.state.withLock { state in
                if let fault = plannedFault() { state.fault = fault }
                switch state.fault {
                case .none, .loseAnswers: Self.send(bytes, to: link.server)
                case .loseRequests: link.cut()
                case .delayRequests: state.delayed += bytes
                case .silence: break
                }
            }
        }
        link.state.withLock { state in
            switch state.fault {
            case .none, .loseRequests: link.cut()
            case .loseAnswers, .delayRequests, .silence: break
            }
        }
    }

    private static func passAnswers(_ link: Link) {
        while let bytes = receive(from: link.server) {
            link.state.withLock { state in
                switch state.fault {
                case .none, .delayRequests: send(bytes, to: link.client)
                case .loseAnswers, .loseRequests: link.cut()
                case .silence: break
                }
            }
        }
        _ = shutdown(link.client, Int32(SHUT_RDWR))
    }

    private static func socket() -> Int32 {
        #if canImport(Glibc)
        Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
        Darwin.socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
    }

    private static func receive(from socket: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = unsafe recv(socket, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    private static func send(_ bytes: [UInt8], to socket: Int32) {
        var sent = 0
        unsafe bytes.withUnsafeBytes { buffer in
            while sent < bytes.count, let start = buffer.baseAddress {
                #if canImport(Glibc)
                let count = unsafe Glibc.send(socket, start + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                #else
                let count = unsafe Darwin.send(socket, start + sent, bytes.count - sent, 0)
                #endif
                if count <= 0 { return }
                sent += count
            }
        }
    }

    private static func withAddress(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
#endif
