import DavitAccess
import DavitHTTP
import DavitLogging
import DavitSystem
import DavitTesting
import Synchronization
import Testing

struct AuditLogTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/audit" }

    init() throws { folder = try TemporaryFolder() }

    private func lines(of path: String) throws -> [String] {
        String(decoding: try SmallFile(reading: path).bytes, as: UTF8.self).split(separator: "\n").map(
            String.init)
    }

    private static func event(
        _ operation: AuditEvent.Operation, _ path: String, _ result: AuditEvent.Result = .done
    ) -> AuditEvent {
        var event = AuditEvent(operation, result)
        event.path = ResourcePath(segments: path.split(separator: "/").map { Array($0.utf8) })
        return event
    }

    /// Creates a log in a file.
    private func log(
        _ policy: AuditLog.FailurePolicy = .refuse, rotation: AuditLog.Rotation? = nil
    ) throws -> AuditLog {
        try AuditLog(.file(path), policy: policy, rotation: rotation, log: Log(level: .error))
    }

    @Test func recordHasAllDetailsInOneJSONObject() throws {
        let head = "PUT /d/a HTTP/1.1\r\nHost: a\r\n\r\n"
        let request = try HTTPRequest(parsing: Array(head.utf8))
        request.peerAddress = "192.0.2.1"
        request.setIdentity(IdentityDetails(Principal(.appPassword, "anna"), credentialID: "k1"))
        var event = AuditEvent(.move, request: request)
        event.share = "/srv/files"
        event.path = ResourcePath(segments: ["d", "a\"\n"].map { Array($0.utf8) })
        event.destination = .root
        event.bytes = 12
        event.digest = ContentDigest(.md5, [0, 255])
        event.trashID = "abc"
        event.members = .init(paths: [.root], count: 7)
        let log = try log()
        log.record(event)
        log.finish()
        let line = try #require(try lines(of: path).first)
        #expect(line.hasPrefix(#"{"time":""#))
        let expected = #"""
            "op":"move","result":"done","method":"PUT","user":"anna","via":"app-password","credential":"k1",\#
            "from":"192.0.2.1","share":"/srv/files","path":"/d/a\"\u000a","to":"/","bytes":12,"digest":"md5=00ff",\#
            "trash":"abc","member_count":7,"members":["/"]}
            """#
        #expect(line.hasSuffix(expected), "\(line)")
        let read = try #require(AuditLine(parsing: Array(line.utf8)))
        #expect(read.text("path") == "/d/a\"\n")
        #expect(read.number("bytes") == 12)
        #expect(read.text("time")?.utf8.count == 24)
    }

    @Test func refusedChangesHaveTheirStatus() throws {
        let log = try log()
        log.record(Self.event(.delete, "a", .refused(.forbidden)))
        log.finish()
        #expect(try lines(of: path).first?.contains(#""result":"refused","status":403"#) == true)
    }

    @Test func membersAreListedUpToALimitOfBytes() throws {
        var event = Self.event(.delete, "d")
        let long = [UInt8](repeating: 120, count: 200)
        let member = try #require(ResourcePath(segments: [long]))
        event.members = .init(paths: Array(repeating: member, count: 2_000), count: 50_000, isComplete: false)
        let log = try log()
        log.record(event)
        log.finish()
        let line = try #require(try lines(of: path).first)
        #expect(line.utf8.count < 300 << 10)
        #expect(line.utf8.count > 200 << 10)
        #expect(line.contains(#""member_count_at_least":50000,"members":["/xxx"#))
        #expect(AuditLine(parsing: Array(line.utf8)) != nil)
    }

    @Test func incompleteLastLineDoesNotDamageTheNext() throws {
        try SmallFile.write(Array("{\"time\":\"20".utf8), to: path, mode: 0o600)
        let log = try log()
        log.record(Self.event(.upload, "a"))
        log.finish()
        let lines = try lines(of: path)
        #expect(lines.count == 2)
        #expect(lines.last.flatMap { AuditLine(parsing: Array($0.utf8)) }?.text("path") == "/a")
    }

    /// A log in a device that is always full.
    private static func full(
        _ policy: AuditLog.FailurePolicy, _ errors: @escaping @Sendable (String) -> Void
    ) throws -> AuditLog {
        try AuditLog(
            .file("/dev/full"), policy: policy,
            log: Log(level: .error, sink: .custom { errors($0.message) }))
    }

    /// Appends a message, and returns the number of messages.
    private static func count(_ message: String, in messages: borrowing Mutex<[String]>) -> Int {
        messages.withLock { messages in
            messages.append(message)
            return messages.count
        }
    }

    #if os(Linux)
    @Test func changesAreRefusedWhileTheLogCannotBeWritten() throws {
        let failed = Latch(count: 1)
        let messages = Mutex<[String]>([])
        let log = try Self.full(.refuse) { message in
            if Self.count(message, in: messages) == 1 { failed.countDown() }
        }
        #expect(log.admission() == .admitted)
        log.record(Self.event(.upload, "a"))
        failed.wait()
        #expect(log.admission() == .outOfSpace)
        #expect(log.statistics.isFailing)
        // It is kept for later, because it was admitted.
        log.record(Self.event(.upload, "b"))
        #expect(log.statistics.lost == 0)
        log.finish()
        #expect(log.statistics.lost == 2)
        #expect(
            messages.withLock { $0 } == [
                "cannot write audit log; changes are refused", "audit log records lost",
            ])
    }

    @Test func missingRecordsAreCountedIfChangesArePermitted() throws {
        let failed = Latch(count: 1)
        let messages = Mutex<[String]>([])
        let log = try Self.full(.count) { message in
            if Self.count(message, in: messages) == 1 { failed.countDown() }
        }
        log.record(Self.event(.upload, "a"))
        failed.wait()
        #expect(log.admission() == .admitted)
        // More than the memory for waiting records.
        let name = String(repeating: "x", count: 200)
        let count = AuditLog.waitingBytes / 200
        for _ in 0..<count { log.record(Self.event(.upload, name)) }
        #expect(log.statistics.lost > 0)
        log.finish()
        #expect(log.statistics.lost == count + 1)
        #expect(messages.withLock { $0 }.first == "cannot write audit log; records will be lost")
    }
    #endif

    @Test func fileIsRenamedWhenItReachesItsSize() throws {
        let log = try log(rotation: .init(bytes: 300, count: 2))
        for number in 0..<20 {
            log.record(Self.event(.upload, "file-\(number)"))
            // Writes the record.
            log.finish()
            log.takeRecords()
        }
        var names: [String] = []
        for file in ["\(path).2", "\(path).1", path] {
            let lines = try lines(of: file)
            #expect(lines.reduce(0) { $0 + $1.utf8.count + 1 } <= 300)
            names += lines.compactMap { AuditLine(parsing: Array($0.utf8))?.text("path") }
        }
        #expect(names.count >= 6)
        #expect(names == (20 - names.count..<20).map { "/file-\($0)" })
        #expect(throws: SystemError.self) { try SmallFile(reading: "\(path).3") }
    }

    @Test func renamedFileIsReplacedByANewOne() throws {
        let log = try log()
        log.record(Self.event(.upload, "old"))
        log.finish()
        log.takeRecords()
        #expect(try FileDescriptor.rename(path, to: path + ".moved"))
        log.reopen()
        log.record(Self.event(.upload, "new"))
        log.finish()
        // Whether `new` is in the old or the new file depends on when the thread takes it, but nothing is missing.
        let all = try lines(of: path + ".moved") + lines(of: path)
        #expect(all.compactMap { AuditLine(parsing: Array($0.utf8))?.text("path") } == ["/old", "/new"])
    }

    @Test func repeatedFailedLoginsAreRecordedOnce() throws {
        let log = try log()
        var event = AuditEvent(.failedLogin, .refused(.unauthorized))
        (event.principal, event.origin) = ("anna", "192.0.2.1")
        for _ in 0..<5 { log.record(event) }
        event.principal = "ben"
        log.record(event)
        log.finish()
        let lines = try lines(of: path)
        #expect(lines.count == 2)
        #expect(lines.first?.contains(#""user":"anna","from":"192.0.2.1"}"#) == true)
        #expect(lines.last?.contains(#""user":"ben","from":"192.0.2.1","suppressed":4}"#) == true)
    }

    @Test func differentFailedLoginsAreLimited() throws {
        let log = try log()
        for number in 0..<3_000 {
            var event = AuditEvent(.failedLogin, .refused(.unauthorized))
            event.principal = "\(number)"
            log.record(event)
        }
        log.record(Self.event(.upload, "a"))
        log.finish()
        let lines = try lines(of: path)
        #expect(lines.count == 1_025)
        #expect(lines.last?.contains(#""suppressed":1976}"#) == true)
    }
}
