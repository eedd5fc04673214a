import Testing

@testable import DavitDiscovery

/// The conversation with avahi-daemon, with a daemon that the test plays.
struct AvahiSessionTests {
    /// Records what a session sends.
    struct Bench {
        var session: AvahiSession
        var serial: UInt32 = 0
        /// What was sent and not answered.
        var open: [(serial: UInt32, message: DBusMessage)] = []
        var events: [AvahiSession.Event] = []

        init(
            places: [InterfaceSelection.Place] = [.init(name: "eth0", index: 2, hasIPv4: true, hasIPv6: true)]
        ) {
            let types = ["_webdav._tcp", "_http._tcp"]
            session = AvahiSession(
                services: types.map {
                    .init(.init(type: $0, properties: ["path": "/"]), name: "Office", port: 8080)
                },
                places: places)
            take(session.start())
        }

        mutating func take(_ actions: [AvahiSession.Action]) {
            for action in actions {
                switch action {
                case .send(let message, let call):
                    serial += 1
                    session.sent(call, as: serial)
                    open.append((serial, message))
                case .report(let event): events.append(event)
                }
            }
        }

        var members: [String] { open.compactMap(\.message.member) }

        /// Answers the oldest open call of a method.
        mutating func answer(
            _ member: String, error: String? = nil, _ values: (inout DBusWriter) -> Void = { _ in }
        ) throws {
            let index = try #require(
                open.firstIndex { $0.message.member == member }, "\(member) in \(members)")
            var message = DBusMessage(error == nil ? .reply : .error)
            message.replySerial = open.remove(at: index).serial
            message.errorName = error
            message.body = Self.body(values)
            take(session.handle(message))
        }

        mutating func signal(
            _ interface: String, _ member: String, path: String = "/", sender: String = ":1.0",
            _ values: (inout DBusWriter) -> Void
        ) {
            var message = DBusMessage(.signal)
            (message.interface, message.member, message.path, message.sender) = (
                interface, member, path, sender
            )
            message.body = Self.body(values)
            take(session.handle(message))
        }

        private static func body(_ values: (inout DBusWriter) -> Void) -> [UInt8] {
            var writer = DBusWriter()
            values(&writer)
            return writer.bytes
        }

        mutating func daemonOwner(_ owner: String) {
            signal(AvahiSession.busName, "NameOwnerChanged", sender: AvahiSession.busName) {
                $0.add(AvahiSession.daemon)
                $0.add("")
                $0.add(owner)
            }
        }

        mutating func groupState(_ state: Int32, of group: String) {
            signal(AvahiSession.entryGroup, "StateChanged", path: group) {
                $0.add(state)
                $0.add("")
            }
        }

        /// Answers everything up to the registration in a group.
        mutating func register(in group: String) throws {
            if members.contains("GetState") { try answer("GetState") { $0.add(Int32(2)) } }
            try answer("EntryGroupNew") { $0.add(group) }
            while members.contains("AddService") { try answer("AddService") }
            try answer("Commit")
        }

        /// The names that the open calls of AddService contain.
        var names: [String] {
            get throws {
                try open.filter { $0.message.member == "AddService" }.map { call in
                    var reader = call.message.reader
                    for _ in 0..<3 { _ = try reader.number() }
                    return try reader.string()
                }
            }
        }
    }

    @Test func servicesAreRegisteredWhenTheDaemonRuns() throws {
        var bench = Bench()
        #expect(bench.members == ["Hello", "AddMatch", "AddMatch", "GetState"])
        try bench.answer("GetState") { $0.add(Int32(1)) }
        #expect(!bench.members.contains("EntryGroupNew"), "the daemon is still registering its host name")
        bench.signal(AvahiSession.server, "StateChanged") { $0.add(Int32(2)) }
        try bench.answer("EntryGroupNew") { $0.add("/g1") }
        #expect(try bench.names == ["Office", "Office"])
        try bench.register(in: "/g1", hasBegun: true)
        #expect(bench.events.isEmpty)
        bench.groupState(1, of: "/g1")
        bench.groupState(2, of: "/g2")
        #expect(bench.events.isEmpty)
        bench.groupState(2, of: "/g1")
        #expect(bench.events == [.established(number: 1)])
    }

    @Test func nameInUseInTheNetworkGetsANumber() throws {
        var bench = Bench()
        try bench.register(in: "/g1")
        bench.groupState(3, of: "/g1")
        #expect(bench.events == [.collision(number: 1)])
        #expect(bench.members.contains("Free"))
        try bench.answer("EntryGroupNew") { $0.add("/g2") }
        #expect(try bench.names == ["Office (2)", "Office (2)"])
        // A signal about the group that was freed.
        bench.groupState(2, of: "/g1")
        #expect(bench.events.count == 1)
        bench.groupState(2, of: "/g2")
        #expect(bench.events.last == .established(number: 2))
    }

    @Test func nameInUseOnThisMachineGetsANumber() throws {
        var bench = Bench()
        try bench.answer("GetState") { $0.add(Int32(2)) }
        try bench.answer("EntryGroupNew") { $0.add("/g1") }
        try bench.answer("AddService", error: AvahiSession.collisionError)
        // The replies to the other calls for this name change nothing.
        try bench.answer("AddService", error: AvahiSession.collisionError)
        try bench.answer("Commit", error: "org.freedesktop.Avahi.IsEmptyError")
        #expect(bench.events == [.collision(number: 1)])
        try bench.answer("EntryGroupNew") { $0.add("/g2") }
        #expect(try bench.names == ["Office (2)", "Office (2)"])
    }

    @Test func numbersHaveALimit() throws {
        var bench = Bench()
        for round in 1...AvahiSession.numberLimit {
            try bench.register(in: "/g\(round)")
            bench.groupState(3, of: "/g\(round)")
        }
        #expect(bench.events.last == .failed("too many equal names"))
        #expect(!bench.members.contains("EntryGroupNew"))
    }

    @Test func daemonThatStartsLaterRegistersTheServices() throws {
        var bench = Bench()
        try bench.answer("GetState", error: "org.freedesktop.DBus.Error.ServiceUnknown")
        #expect(bench.events == [.daemonMissing])
        bench.daemonOwner(":1.5")
        let call = try #require(bench.open.last)
        #expect(call.message.member == "GetState" && call.message.doesNotStart)
        try bench.register(in: "/g1")
        bench.groupState(2, of: "/g1")
        #expect(bench.events.last == .established(number: 1))
    }

    @Test func restartedDaemonRegistersTheServicesAgain() throws {
        var bench = Bench()
        try bench.register(in: "/g1")
        bench.groupState(2, of: "/g1")
        bench.daemonOwner("")
        #expect(bench.events.last == .daemonMissing)
        bench.daemonOwner(":1.6")
        try bench.register(in: "/g1")
        bench.groupState(2, of: "/g1")
        #expect(bench.events == [.established(number: 1), .daemonMissing, .established(number: 1)])
        #expect(!bench.members.contains("Free"), "the group has ended with the daemon")
    }

    @Test func otherInterfacesReplaceTheRegistration() throws {
        var bench = Bench()
        try bench.register(in: "/g1")
        bench.take(bench.session.use(bench.session.places))
        #expect(!bench.members.contains("Free"))
        let both = [
            InterfaceSelection.Place(name: "eth0", index: 2, hasIPv4: true, hasIPv6: false),
            .init(name: "wlan0", index: 3, hasIPv4: false, hasIPv6: true),
        ]
        bench.take(bench.session.use(both))
        #expect(bench.members.contains("Free"))
        try bench.answer("EntryGroupNew") { $0.add("/g2") }
        let places = try bench.open.filter { $0.message.member == "AddService" }.map { call in
            var reader = call.message.reader
            return [try reader.number(), try reader.number()]
        }
        #expect(places == [[2, 0], [3, 1], [2, 0], [3, 1]])
        bench.take(bench.session.use([]))
        #expect(bench.members.filter { $0 == "Free" }.count == 2)
        #expect(!bench.members.contains("EntryGroupNew"))
    }

    @Test func lateGroupIsFreed() throws {
        var bench = Bench()
        try bench.answer("GetState") { $0.add(Int32(2)) }
        bench.take(bench.session.use([.init(name: "eth1", index: 4, hasIPv4: true, hasIPv6: true)]))
        try bench.answer("EntryGroupNew") { $0.add("/g1") }
        #expect(bench.open.last?.message.path != "/g1" || bench.open.last?.message.member == "Free")
        #expect(bench.members.contains("Free") && !bench.members.contains("AddService"))
    }

    @Test func failureIsReportedAndRetried() throws {
        var bench = Bench()
        try bench.answer("GetState") { $0.add(Int32(2)) }
        try bench.answer("EntryGroupNew") { $0.add("/g1") }
        try bench.answer("AddService", error: "org.freedesktop.Avahi.InvalidPortError")
        #expect(bench.events == [.failed("org.freedesktop.Avahi.InvalidPortError")])
        bench.take(bench.session.retry())
        try bench.register(in: "/g2")
        bench.groupState(2, of: "/g2")
        #expect(bench.events.last == .established(number: 1))
    }

    @Test func stopFreesTheGroup() throws {
        var bench = Bench()
        try bench.register(in: "/g1")
        bench.take(bench.session.stop())
        #expect(bench.open.last?.message.member == "Free" && bench.open.last?.message.path == "/g1")
    }
}

extension AvahiSessionTests.Bench {
    /// Answers the rest of a registration whose group exists.
    mutating func register(in group: String, hasBegun: Bool) throws {
        while members.contains("AddService") { try answer("AddService") }
        try answer("Commit")
    }
}
