import DavitLogging
import DavitSystem
import DavitTesting
import Testing

@testable import DavitDiscovery

/// The announcer with a bus and an avahi-daemon that the test plays, over a real socket.
@Suite(.timeLimit(.minutes(5)))
struct AnnouncerTests {
    /// A bus that answers like one with avahi-daemon, for one connection.
    final class Bus: Sendable {
        struct Received: Hashable, Sendable {
            var member: String
            /// The content of the first string argument.
            var text = ""
            var type = ""
            var port: UInt16 = 0
            var properties: [String] = []
        }

        private let folder: TemporaryFolder
        private let listener: LocalListener
        /// The names that are in use.
        private let taken: [String]
        let received = Monitor<[Received]>([])
        let ended = Latch(count: 1)

        var address: String { "unix:path=\(folder.path)/bus" }

        init(taken: [String] = []) throws {
            folder = try TemporaryFolder()
            listener = try LocalListener(folder: folder.path, name: "bus")
            self.taken = taken
            try SystemThread.start(named: "test-bus") { [self] in
                try? run()
                ended.countDown()
            }
        }

        /// Waits until a method has been called `count` times, and returns its calls.
        func wait(for member: String, count: Int) -> [Received] {
            received.wait { received in
                let calls = received.filter { $0.member == member }
                return calls.count >= count ? calls : nil
            }
        }

        private func run() throws {
            let queue = try SystemEventQueue()
            try queue.watchAccepting(listener.number, token: 1)
            while queue.wait(milliseconds: -1) == 0 {}
            guard let connection = try listener.accept() else { return }
            var input: [UInt8] = []
            func line() throws -> String {
                while !input.contains(0x0A) { input += try connection.receive() }
                let end = input.firstIndex(of: 0x0A)!
                defer { input.removeFirst(end + 1) }
                return String(decoding: input[..<end], as: UTF8.self)
            }
            guard try line().hasPrefix("\0AUTH EXTERNAL ") else { return }
            try connection.send(Array("OK 0123456789abcdef0123456789abcdef\r\n".utf8))
            guard try line() == "BEGIN\r" else { return }
            var group = 0
            var name = ""
            while true {
                while let length = try DBusMessage.length(of: input), input.count >= length {
                    guard let call = try DBusMessage(parsing: input) else { return }
                    input.removeFirst(length)
                    let record = try Self.record(call)
                    if record.member == "EntryGroupNew" { group += 1 }
                    if record.member == "AddService" { name = record.text }
                    received.withLock { $0.append(record) }
                    received.broadcast()
                    try connection.send(Self.reply(to: call, group: group))
                    guard record.member == "Commit" else { continue }
                    var signal = DBusMessage(.signal)
                    (signal.path, signal.interface, signal.member) = (
                        call.path, AvahiSession.entryGroup, "StateChanged"
                    )
                    signal.serial = 1
                    var writer = DBusWriter()
                    writer.add(Int32(taken.contains(name) ? 3 : 2))
                    writer.add("")
                    (signal.signature, signal.body) = ("is", writer.bytes)
                    try connection.send(signal.bytes)
                }
                let bytes = try connection.receive()
                if bytes.isEmpty { return }
                input += bytes
            }
        }

        private static func record(_ call: DBusMessage) throws -> Received {
            var received = Received(member: call.member ?? "")
            guard received.member == "AddService" else { return received }
            var reader = call.reader
            for _ in 0..<3 { _ = try reader.number() }
            received.text = try reader.string()
            received.type = try reader.string()
            _ = try reader.string()
            _ = try reader.string()
            reader.align(2)
            received.port = UInt16(try reader.byte()) | UInt16(try reader.byte()) << 8
            let end = Int(try reader.number()) + reader.offset
            while reader.offset < end {
                let count = try reader.number()
                var bytes: [UInt8] = []
                for _ in 0..<count { bytes.append(try reader.byte()) }
                received.properties.append(String(decoding: bytes, as: UTF8.self))
            }
            return received
        }

        private static func reply(to call: DBusMessage, group: Int) -> [UInt8] {
            var reply = DBusMessage(.reply)
            reply.serial = 1
            reply.replySerial = call.serial
            var writer = DBusWriter()
            switch call.member {
            case "GetState": writer.add(Int32(2))
            case "EntryGroupNew": writer.add("/g\(group)")
            default: break
            }
            (reply.signature, reply.body) = (writer.signature, writer.bytes)
            return reply.bytes
        }
    }

    static func announcer(
        _ announcement: ServiceAnnouncement, on bus: Bus, onName: @escaping @Sendable (String) -> Void
    ) throws -> Announcer {
        try Announcer(
            announcement, services: [.init(type: "_webdav._tcp", properties: ["path": "/"])],
            log: Log(level: .error), busAddress: bus.address,
            interfaces: { [.init(name: "eth0", index: 2, addresses: [InterfaceSelectionTests.lan])] },
            onName: onName)
    }

    #if !canImport(dnssd)
    @Test("W002, W003 and W004 services have the given name, type and properties")
    func w002w003w004ServicesHaveNameTypeAndProperties() throws {
        let bus = try Bus()
        let names = Monitor<[String]>([])
        let announcement = ServiceAnnouncement(
            name: "Büro",
            services: [.init(type: "_x._tcp", name: "Other", properties: ["a": "é", "path": "/b/"])])
        let announcer = try Self.announcer(announcement, on: bus) { name in
            names.withLock { $0.append(name) }
            names.broadcast()
        }
        announcer.prepare()
        announcer.announce(on: [.ipv4Any(port: 8081)])
        #expect(names.wait { $0.first } == "Other")
        let expected = Bus.Received(
            member: "AddService", text: "Other", type: "_x._tcp", port: 8081, properties: ["path=/b/", "a=é"])
        #expect(bus.wait(for: "AddService", count: 1) == [expected])
        announcer.stop()
        bus.ended.wait()
        #expect(bus.received.withLock { $0.last?.member } == "Free")
    }

    @Test func nameInUseIsReportedWithItsNumber() throws {
        let bus = try Bus(taken: ["Office", "Office (2)"])
        let names = Monitor<[String]>([])
        let announcer = try Self.announcer(ServiceAnnouncement(name: "Office"), on: bus) { name in
            names.withLock { $0.append(name) }
            names.broadcast()
        }
        announcer.prepare()
        announcer.announce(on: [.ipv4Any(port: 8081)])
        #expect(names.wait { $0.first } == "Office (3)")
        #expect(bus.wait(for: "AddService", count: 3).map(\.text) == ["Office", "Office (2)", "Office (3)"])
        announcer.stop()
    }

    @Test func withdrawnServicesCanBeAnnouncedAgain() throws {
        let bus = try Bus()
        let announcer = try Self.announcer(ServiceAnnouncement(name: "Office"), on: bus) { _ in }
        announcer.prepare()
        announcer.announce(on: [.ipv4Any(port: 8081)])
        _ = bus.wait(for: "Commit", count: 1)
        announcer.withdraw()
        // The connection is closed, which withdraws everything even if avahi-daemon does not respond.
        bus.ended.wait()
        announcer.stop()
        announcer.prepare()
        // There is no second connection: it waits for the bus until it is stopped.
        announcer.announce(on: [.ipv4Any(port: 8081)])
        announcer.stop()
    }
    #endif

    @Test func loopbackAddressesAreNotAnnounced() throws {
        let warnings = Monitor<[String]>([])
        let log = Log(
            level: .warning, sink: .custom { entry in warnings.withLock { $0.append(entry.message) } })
        let announcer = try Announcer(
            ServiceAnnouncement(name: "a"), services: [], log: log, busAddress: "none"
        ) { _ in }
        announcer.prepare()
        announcer.announce(on: [.ipv4Loopback(port: 1), .ipv6Loopback(port: 1)])
        announcer.stop()
        #expect(warnings.withLock { $0.count } == 1)
    }

    @Test func requestsOfAStoppedServerAreIgnored() throws {
        let announcer = try Announcer(
            ServiceAnnouncement(name: "a"), services: [], log: Log(level: .error), busAddress: "none"
        ) { _ in }
        announcer.announce(on: [.ipv4Any(port: 1)])
        // Returns immediately, because there is no thread.
        announcer.stop()
    }
}
