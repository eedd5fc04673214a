import DavitEngine
import DavitHTTP
import DavitJournal
import DavitServer
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// Limits on the memory that slow clients can occupy with large dead properties.
struct LargePropertyTests {
    /// Creates members `m0`, `m1`, … with a property of `bytes` bytes each, and `small` with a property of a
    /// few bytes.
    private static func makeShare(
        _ count: Int, bytes: Int = 200_000, _ configure: (inout ShareConfiguration) -> Void = { _ in }
    ) async throws -> TestShare {
        let share = try TestShare(nil, configure)
        for number in 0..<count {
            _ = try await share.client.send("PUT", "/m\(number)", text: "x")
            let value = String(repeating: "\(number % 10)", count: bytes)
            let set = try await share.client.send("PROPPATCH", "/m\(number)", text: setProperty("p", value))
            #expect(set.status == 207)
        }
        _ = try await share.client.send("PUT", "/small", text: "x")
        _ = try await share.client.send("PROPPATCH", "/small", text: setProperty("p", "tiny"))
        return share
    }

    /// A response that is read in pieces, by one task at a time.
    private final class Reader: @unchecked Sendable {
        let stream: any BodyStream
        private(set) var bytes: [UInt8] = []
        private let buffer = IOBuffer(capacity: 16_384)

        convenience init(
            _ share: TestShare, _ target: String, depth: String, principal: String
        ) async throws {
            try self.init(
                await share.client.begin("PROPFIND", target, [("Depth", depth)], principal: principal))
        }

        init(_ response: HTTPResponse) throws {
            guard case .stream(let stream) = response.body else {
                throw HTTPError(.internalServerError, "not a stream")
            }
            self.stream = stream
        }

        /// Reads the next piece; returns false at the end of the response.
        func next() async throws -> Bool {
            buffer.removeAll()
            try await stream.next(into: buffer)
            unsafe buffer.withBytes { unsafe bytes.append(contentsOf: $0) }
            return buffer.count > 0
        }

        func all() async throws -> String {
            while try await next() {}
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Every resource is listed once, with its complete value, whatever the number of resources per piece.
    @Test(arguments: [1, 3, TestExtent.size(40, sampled: 7)]) func listingsAreComplete(count: Int)
        async throws
    {
        let share = try await Self.makeShare(count)
        for depth in ["1", "infinity"] {
            let text = try await Reader(share, "/", depth: depth, principal: "anna").all()
            for number in 0..<count {
                let value = ">" + String(repeating: "\(number % 10)", count: 200_000) + "<"
                #expect(text.split(separator: value, omittingEmptySubsequences: false).count > 1)
            }
            let responses = text.split(separator: "<D:response>", omittingEmptySubsequences: false)
            #expect(responses.count == count + 3)
            #expect(text.hasSuffix("</D:multistatus>"))
        }
        let one = try await Reader(share, "/m0", depth: "0", principal: "anna").all()
        #expect(one.contains(">" + String(repeating: "0", count: 200_000) + "<"))
        #expect(one.hasSuffix("</D:multistatus>"))
    }

    /// Small properties are read without a slot. A stream that has a slot reads one large resource at a time.
    @Test func streamReadsOneLargeResourceAtATime() async throws {
        let store = CountingStore()
        let share = try TestShare(state: store)
        for number in 0..<8 {
            _ = try await share.client.send("PUT", "/m\(number)", text: "x")
            _ = try await share.client.send(
                "PROPPATCH", "/m\(number)", text: setProperty("p", String(repeating: "v", count: 300_000)))
        }
        let reader = try await Reader(share, "/", depth: "1", principal: "anna")
        #expect(try await reader.next())
        #expect(store.largestRead.withLock { $0 } < 400_000)
        _ = try await reader.all()
        #expect(store.largestRead.withLock { $0 } < 400_000)
    }

    /// A client that reads slowly delays only its own requests.
    @Test func slowReadersOfAClientAreLimited() async throws {
        let share = try await Self.makeShare(2) {
            $0.largeReadLimit = 2
            $0.largeReadLimitPerClient = 1
        }
        // The response has begun, but is not read.
        let slow = try await Reader(share, "/m0", depth: "0", principal: "anna")
        let executor = TestExecutor()
        let second = executor.start {
            try await Reader(share, "/m1", depth: "0", principal: "anna").all()
        }
        executor.waitUntilIdle()
        #expect(share.share.largeReads.waitingCount == 1)
        // Another client has its own slots, and small properties need no slot.
        let other = try await Reader(share, "/m1", depth: "0", principal: "bert").all()
        #expect(other.hasSuffix("</D:multistatus>"))
        let small = try await share.client.send("PROPFIND", "/small", [("Depth", "0")], principal: "anna")
        #expect(small.text.contains("tiny"))
        #expect(share.share.largeReads.waitingCount == 1)
        // The next response proceeds after most of the first one has been sent.
        #expect(try await slow.all().hasSuffix("</D:multistatus>"))
        #expect(try await second.value.hasSuffix("</D:multistatus>"))
        #expect(share.share.largeReads.waitingCount == 0)
    }

    /// The locks on a resource count like its properties, also for the members of a locked collection.
    @Test func slowReadersOfManyLocksAreLimited() async throws {
        let share = try TestShare { $0.largeReadLimit = 1 }
        #expect(share.shell("mkdir -p d; touch d/a d/b d/c") == 0)
        let name = String(repeating: "n", count: 8_000)
        let body = lockBody(scope: "shared").replacing(">me<", with: ">\(name)<")
        for _ in 0..<9 { #expect(try await share.client.send("LOCK", "/d", text: body).status == 200) }
        var slow: Reader? = try await Reader(share, "/d/a", depth: "0", principal: "anna")
        #expect(slow != nil)
        let executor = TestExecutor()
        let waiting = executor.start { try await Reader(share, "/d", depth: "1", principal: "bert").all() }
        executor.waitUntilIdle()
        #expect(share.share.largeReads.waitingCount == 1)
        slow = nil
        let text = try await waiting.value
        // The second piece contains three resources of 77 kB. When most of it has been read, the slot is free for another
        // response, and the last resource needs it again.
        let listing = try await Reader(share, "/d", depth: "1", principal: "anna")
        while listing.bytes.count < 180_000 { _ = try await listing.next() }
        slow = try await Reader(share, "/d/a", depth: "0", principal: "bert")
        let rest = executor.start { try await listing.all() }
        executor.waitUntilIdle()
        #expect(share.share.largeReads.waitingCount == 1)
        slow = nil
        #expect(try await rest.value == text)
        #expect(text.hasSuffix("</D:multistatus>"))
        #expect(text.ranges(of: "<D:response>").count == 4)
        #expect(text.ranges(of: name).count == 36)
    }

    /// Sorted results are kept until they are sent; more than a few need a slot until then.
    @Test func slowReadersOfSortedResultsAreLimited() async throws {
        let share = try TestShare { $0.largeReadLimit = 1 }
        #expect(share.shell("for n in $(seq 100 599); do echo a$n; done | xargs touch") == 0)
        let search = { @Sendable (order: String, principal: String) async throws in
            try Reader(
                await share.client.begin(
                    "SEARCH", "/", body: SentBody(Array(query(order: order).utf8)), principal: principal))
        }
        let order = ordered("D:displayname", "<D:descending/>")
        var slow: Reader? = try await search(order, "anna")
        // The first results have been sent.
        while let reader = slow, reader.bytes.count < 1_000 { #expect(try await reader.next()) }
        let executor = TestExecutor()
        let waiting = executor.start { try await search(order, "bert").all() }
        executor.waitUntilIdle()
        #expect(share.share.largeReads.waitingCount == 1)
        // Results without an order are not kept.
        #expect(hrefs(in: try await search("", "carl").all()).count == 501)
        #expect(share.share.largeReads.waitingCount == 1)
        let text = try await slow?.all()
        #expect(try await waiting.value == text)
        #expect(hrefs(in: text ?? "").dropLast().elementsEqual((100...599).reversed().map { "/a\($0)" }))
        // An abandoned response releases its slot, too.
        slow = try await search(order, "anna")
        while let reader = slow, reader.bytes.count < 1_000 { #expect(try await reader.next()) }
        slow = nil
        #expect(try await search(order, "bert").all() == text)
    }

    typealias Named = (method: String, target: String, depth: String, before: String, after: String)

    static let named: [Named] = [
        ("PROPFIND", "/small", "0", "<D:propfind xmlns:D='DAV:'><D:prop>", "</D:prop></D:propfind>"),
        ("PROPFIND", "/", "1", "<D:propfind xmlns:D='DAV:'><D:prop>", "</D:prop></D:propfind>"),
        (
            "PROPFIND", PrincipalTests.folder, "0", "<D:propfind xmlns:D='DAV:'><D:prop>",
            "</D:prop></D:propfind>"
        ),
        (
            "REPORT", "/", "0",
            "<D:sync-collection xmlns:D='DAV:'><D:sync-token/><D:sync-level>1</D:sync-level><D:prop>",
            "</D:prop></D:sync-collection>"
        ),
        (
            "SEARCH", "/", "0", "<D:searchrequest xmlns:D='DAV:'><D:basicsearch><D:select><D:prop>",
            """
            </D:prop></D:select><D:from><D:scope><D:href>/</D:href><D:depth>1</D:depth></D:scope></D:from></D:basicsearch>\
            </D:searchrequest>
            """
        ),
    ]

    /// The names of requested properties are in memory until the response has been sent; many of them need a slot.
    @Test(arguments: named)
    func slowReadersOfManyNamesAreLimited(row: Named) async throws {
        let share = try TestShare.live { $0.largeReadLimit = 1 }
        _ = try await share.client.send("PUT", "/small", text: "x")
        let body = { @Sendable (count: Int) in
            let namespace = "urn:" + String(repeating: "n", count: 900)
            return row.before + (0..<count).map { "<p\($0) xmlns='\(namespace)'/>" }.joined() + row.after
        }
        let send = { @Sendable (count: Int, principal: String) async throws in
            try await share.client.send(
                row.method, row.target, [("Depth", row.depth)], text: body(count), principal: principal)
        }
        var slow: Reader? = try Reader(
            await share.client.begin(
                row.method, row.target, [("Depth", row.depth)], body: SentBody(Array(body(70).utf8)),
                principal: "anna"))
        #expect(slow != nil)
        let executor = TestExecutor()
        let waiting = executor.start { try await send(70, "bert") }
        executor.waitUntilIdle()
        #expect(share.share.largeReads.waitingCount == 1)
        // Fewer names need no slot.
        #expect(try await send(60, "carl").status == 207)
        #expect(share.share.largeReads.waitingCount == 1)
        let text = try await slow?.all()
        slow = nil
        let other = try await waiting.value
        #expect(other.status == 207)
        #expect(other.text == text)
        #expect(text?.contains("p69") == true)
        #expect(text?.hasSuffix("</D:multistatus>") == true)
    }

    /// The response to a form with many members holds a slot until it has been sent.
    @Test func slowReadersOfFormResultsAreLimited() async throws {
        let share = try TestShare { $0.largeBodyLimit = 1 }
        let post = { @Sendable (count: Int, principal: String) async throws in
            let form = (0..<count).map { "member=n\($0)" }.joined(separator: "&")
            return try await share.client.begin(
                "POST", "/?action=delete", ownForm, body: SentBody(Array(form.utf8)), principal: principal)
        }
        var slow: Reader? = try Reader(await post(1_000, "anna"))
        let executor = TestExecutor()
        let waiting = executor.start { try await Reader(post(1_000, "bert")).all() }
        executor.waitUntilIdle()
        #expect(share.share.largeForms.waitingCount == 1)
        // A short response needs no slot.
        #expect(try await post(100, "carl").status == .multistatus)
        let text = try await slow?.all()
        #expect(slow?.stream.length == slow.map { Int64($0.bytes.count) })
        #expect(try await waiting.value == text)
        #expect(text?.ranges(of: "<D:response>").count == 1_000)
        #expect(text?.hasSuffix("</D:multistatus>") == true)
        // An abandoned response releases its slot, too.
        slow = try Reader(await post(1_000, "anna"))
        #expect(try await slow?.next() == true)
        slow = nil
        #expect(try await Reader(post(1_000, "bert")).all() == text)
    }

    /// The limit applies to all clients together, and an abandoned response releases its slot.
    @Test func slowReadersOfAllClientsAreLimited() async throws {
        let share = try await Self.makeShare(1) { $0.largeReadLimit = 1 }
        var slow: Reader? = try await Reader(share, "/m0", depth: "0", principal: "anna")
        #expect(slow != nil)
        let executor = TestExecutor()
        let waiting = executor.start {
            try await Reader(share, "/m0", depth: "0", principal: "bert").all()
        }
        executor.waitUntilIdle()
        #expect(share.share.largeReads.waitingCount == 1)
        let cancelled = executor.start {
            try await share.client.send("PROPFIND", "/m0", [("Depth", "0")], principal: "carl").status
        }
        executor.waitUntilIdle()
        #expect(share.share.largeReads.waitingCount == 2)
        cancelled.cancel()
        #expect(try await cancelled.value == 503)
        slow = nil
        #expect(try await waiting.value.hasSuffix("</D:multistatus>"))
    }

    /// The number of large bodies that a client sends at the same time is limited, too.
    @Test func slowBodiesOfAClientAreLimited() async throws {
        let share = try await Self.makeShare(0) { $0.largeBodyLimitPerClient = 1 }
        let text = setProperty("p", String(repeating: "v", count: 70_000))
        let gate = Opening()
        let slow = Task { [share] in
            let body = GatedBody(Array(text.utf8), then: [], declared: nil, gate: gate)
            return try await share.client.send("PROPPATCH", "/small", body: body, principal: "anna").status
        }
        await gate.untilReached()
        let executor = TestExecutor()
        let second = executor.start {
            try await share.client.send("PROPPATCH", "/small", text: text, principal: "anna").status
        }
        executor.waitUntilIdle()
        #expect(share.share.xmlBodies.waitingCount == 1)
        let short = setProperty("p", "short")
        for (body, account) in [(text, "bert"), (short, "anna")] {
            let answer = try await share.client.send("PROPPATCH", "/small", text: body, principal: account)
            #expect(answer.status == 207)
        }
        #expect(share.share.xmlBodies.waitingCount == 1)
        gate.open()
        #expect(try await slow.value == 207)
        #expect(try await second.value == 207)
    }

    /// `largeBodyLimit` applies to the bodies of all clients together.
    @Test func slowBodiesOfAllClientsAreLimited() async throws {
        let share = try await Self.makeShare(0) { $0.largeBodyLimit = 2 }
        let text = setProperty("p", String(repeating: "v", count: 70_000))
        let gate = Opening()
        var slow: [Task<UInt16, any Error>] = []
        for principal in ["anna", "bert"] {
            // Both bodies are being received at the same time.
            let arrival = Opening()
            let body = ReportingBody(Array(text.utf8), arrival: arrival, gate: gate)
            slow.append(
                Task {
                    try await share.client.send("PROPPATCH", "/small", body: body, principal: principal)
                        .status
                })
            await arrival.wait()
        }
        #expect(share.share.xmlBodies.waitingCount == 0)
        let executor = TestExecutor()
        let third = executor.start {
            try await share.client.send("PROPPATCH", "/small", text: text, principal: "carl").status
        }
        executor.waitUntilIdle()
        #expect(share.share.xmlBodies.waitingCount == 1)
        gate.open()
        for task in slow { #expect(try await task.value == 207) }
        #expect(try await third.value == 207)
        #expect(share.share.xmlBodies.waitingCount == 0)
    }

    /// Large forms, and those of undeclared length, use the same slots, until there is a response.
    @Test func slowFormsAreLimited() async throws {
        let share = try await Self.makeShare(0) { $0.largeBodyLimitPerClient = 1 }
        let form = "name=n&p=" + String(repeating: "x", count: 70_000)
        let (gate, arrival) = (Opening(), Opening())
        let slow = Task {
            let body = ReportingBody(Array(form.utf8), arrival: arrival, gate: gate)
            return try await share.client.send(
                "POST", "/?action=mkcol", ownForm, body: body, principal: "anna"
            ).status
        }
        await arrival.wait()
        let executor = TestExecutor()
        let text = String(repeating: "x", count: 40_000)
        let parts = FormUploadTests.form(.field("name", "m"), .field("p", text), .field("p", text))
        #expect(parts.count > 65_536)
        let waiting = [
            executor.start {
                try await share.client.send("POST", "/?action=mkcol", ownForm, text: form, principal: "anna")
                    .status
            },
            executor.start {
                try await share.client.send(
                    "POST", "/?action=mkcol", FormUploadTests.fields, body: parts, principal: "anna"
                ).status
            },
        ]
        executor.waitUntilIdle()
        #expect(share.share.largeForms.waitingCount == 2)
        // Small forms need no slot, and neither do forms with files.
        let upload = FormUploadTests.form(.file("f", bytes(70_000)))
        for (action, fields, body) in [
            ("mkcol", ownForm, Array("name=tiny".utf8)), ("upload", FormUploadTests.fields, upload),
        ] {
            let response = try await share.client.send(
                "POST", "/?action=\(action)", fields, body: body, principal: "anna")
            #expect(response.status == 201)
        }
        #expect(share.share.largeForms.waitingCount == 2)
        gate.open()
        #expect(try await slow.value == 201)
        #expect(try await waiting[0].value == 405)
        #expect(try await waiting[1].value == 201)
        #expect(share.share.largeForms.waitingCount == 0)
    }

    /// A body of 64 KiB needs no slot, and one byte more needs one.
    @Test func onlyBodiesAbove64KiBNeedASlot() async throws {
        let share = try await Self.makeShare(0) { $0.largeBodyLimitPerClient = 1 }
        let gate = Opening()
        let arrival = Opening()
        let ask = askProperty("p")
        let slow = Task {
            let body = ReportingBody(Array(ask.utf8), arrival: arrival, gate: gate)
            return try await share.client.send(
                "PROPFIND", "/small", [("Depth", "0")], body: body, principal: "anna"
            ).status
        }
        await arrival.wait()
        for (count, waiting) in [(65_536, 0), (65_537, 1)] {
            let text = ask + String(repeating: " ", count: count - ask.utf8.count)
            let executor = TestExecutor()
            let asked = executor.start {
                try await share.client.send(
                    "PROPFIND", "/small", [("Depth", "0")], text: text, principal: "anna"
                ).status
            }
            executor.waitUntilIdle()
            #expect(share.share.xmlBodies.waitingCount == waiting)
            if waiting == 1 { gate.open() }
            #expect(try await asked.value == 207)
        }
        #expect(try await slow.value == 207)
    }

    /// At most 64 requests of a client and 1,024 of all clients wait for a slot.
    @Test func waitingBodiesAreLimited() async throws {
        let share = try await Self.makeShare(0) { $0.largeBodyLimit = 1 }
        let text = setProperty("p", String(repeating: "v", count: 70_000))
        let gate = Opening()
        let arrival = Opening()
        let slow = Task {
            let body = ReportingBody(Array(text.utf8), arrival: arrival, gate: gate)
            return try await share.client.send("PROPPATCH", "/small", body: body, principal: "anna").status
        }
        await arrival.wait()
        let executor = TestExecutor()
        var waiting: [Task<UInt16, any Error>] = []
        for number in 0..<1_024 {
            if number == 64 {
                executor.waitUntilIdle()
                #expect(share.share.xmlBodies.waitingCount == 64)
                let refused = try await share.client.send(
                    "PROPPATCH", "/small", text: text, principal: "user0")
                #expect(refused.status == 503)
                #expect(refused["Retry-After"] != nil)
            }
            let principal = "user\(number / 64)"
            waiting.append(
                executor.start {
                    try await share.client.send("PROPPATCH", "/small", text: text, principal: principal)
                        .status
                })
        }
        executor.waitUntilIdle()
        #expect(share.share.xmlBodies.waitingCount == 1_024)
        #expect(
            try await share.client.send("PROPPATCH", "/small", text: text, principal: "other").status == 503)
        for task in waiting { task.cancel() }
        for task in waiting { #expect(try await task.value == 503) }
        gate.open()
        #expect(try await slow.value == 207)
    }

    @Test func waitingReadersAreLimited() async throws {
        let share = try await Self.makeShare(1) { $0.largeReadLimit = 1 }
        let slow = try await Reader(share, "/m0", depth: "0", principal: "anna")
        let executor = TestExecutor()
        let waiting = (0..<16).map { _ in
            executor.start {
                try await share.client.send("PROPFIND", "/m0", [("Depth", "0")], principal: "bert").status
            }
        }
        executor.waitUntilIdle()
        #expect(share.share.largeReads.waitingCount == 16)
        let refused = try await share.client.send("PROPFIND", "/m0", [("Depth", "0")], principal: "bert")
        #expect(refused.status == 503)
        #expect(refused["Retry-After"] != nil)
        _ = try await slow.all()
        for task in waiting { #expect(try await task.value == 207) }
    }

    /// At most 256 requests of all clients wait for a slot.
    @Test func waitingReadersOfAllClientsAreLimited() async throws {
        let share = try await Self.makeShare(1) { $0.largeReadLimit = 1 }
        let slow = try await Reader(share, "/m0", depth: "0", principal: "anna")
        func read(_ principal: String) async throws -> UInt16 {
            try await share.client.send("PROPFIND", "/m0", [("Depth", "0")], principal: principal).status
        }
        let waiting = (0..<256).map { number in Task { try await read("user\(number / 16)") } }
        while share.share.largeReads.waitingCount < 256 { await Task.yield() }
        #expect(try await read("other") == 503)
        for task in waiting { task.cancel() }
        for task in waiting { #expect(try await task.value == 503) }
        _ = try await slow.all()
    }
}

/// A body of undeclared length that reports the first read, and ends when a gate is opened.
private final class ReportingBody: RequestBody {
    private let bytes: [UInt8]
    private let arrival: Opening
    private let gate: Opening
    private var sent = 0
    let declaredLength: Int64? = nil

    init(_ bytes: [UInt8], arrival: Opening, gate: Opening) {
        self.bytes = bytes
        self.arrival = arrival
        self.gate = gate
    }

    var isPresent: Bool { true }

    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
        arrival.open()
        await gate.wait()
        let taken = buffer.append(Array(bytes[sent...].prefix(buffer.freeCount)))
        sent += taken
        return taken
    }
}

/// Records the largest number of property bytes read in one call.
private final class CountingStore: ForwardingStateStore {
    let largestRead = Mutex(0)
    let base: any StateStore = MemoryStateStore()

    func records(
        at paths: [ResourcePath], limitBytes: Int
    ) throws(StateError) -> [PropertyRecord?] {
        let records = try base.records(at: paths, limitBytes: limitBytes)
        let bytes = records.reduce(0) { sum, record in
            sum + (record?.properties.reduce(0) { $0 + $1.byteCount } ?? 0)
        }
        largestRead.withLock { $0 = max($0, bytes) }
        return records
    }
}
