import DavitEngine
import DavitHTTP
import DavitTesting
import Synchronization
import Testing

/// Limits on the work of a search: within one resource, and in total.
struct SearchWorkTests {
    private static let valueLength = 100_000

    /// Creates a file with a long property.
    private static func share(
        _ configure: (inout ShareConfiguration) -> Void = { _ in }
    ) async throws -> TestShare {
        let share = try TestShare { configure(&$0) }
        #expect(try await share.client.send("PUT", "/a", text: "1").status == 201)
        let value = String(repeating: "a", count: Self.valueLength)
        #expect(
            try await share.client.send("PROPPATCH", "/a", text: setProperty("p", value)).status == 207)
        return share
    }

    /// Returns patterns that almost match at every position but match nowhere.
    private static func patterns(_ count: Int) -> String {
        (0..<count).map { compare("like", "x:p", "%aaaaaaaab\($0)%") }.joined()
    }

    // The thread is released during the evaluation of one resource, not only between resources.
    @Test func evaluationOfOneMemberIsSplitIntoManyJobs() async throws {
        let share = try await Self.share { $0.searchPieceSteps = 100_000 }
        let before = share.hopCount
        let condition = "<D:or>\(Self.patterns(40))\(compare("like", "x:p", "%a"))</D:or>"
        #expect(try await share.found(query(condition, scope: "/a")) == ["/a"])
        #expect(share.hopCount - before >= 40)
    }

    // Results from before a pause are neither lost nor evaluated again.
    @Test(arguments: [1, 50, 1000, 1_000_000])
    func pieceSizeDoesNotAffectResults(pieceSteps: Int) async throws {
        let share = try await Self.share { $0.searchPieceSteps = pieceSteps }
        #expect(share.shell("mkdir -p d/e; touch d/a1 d/e/a2 d/b; truncate -s 5 d/e/a2") == 0)
        let condition = """
            <D:or>\(compare("like", "D:displayname", "A_", caseless: true))\
            <D:and>\(compare("like", "D:displayname", "a"))\(compare("gt", "x:p", "a"))</D:and></D:or>
            """
        #expect(try await share.found(query(condition)).sorted() == ["/a", "/d/a1", "/d/e/a2"])
        let order = ordered("D:getcontentlength", "<D:descending/>")
        #expect(try await share.found(query(condition, order: order)) == ["/d/e/a2", "/a", "/d/a1"])
    }

    // The conditions before and after the expensive one read the quota, and the test counts these calls.
    @Test func cancellationStopsTheEvaluationOfAMember() async throws {
        let share = try await Self.share()
        let asked = Atomic<Int>(0)
        let running = Mutex<Task<Void, any Error>?>(nil)
        share.resources.watch { call in
            if case .quota = call {
                asked.add(1, ordering: .relaxed)
                running.withLock { $0?.cancel() }
            }
            return nil
        }
        let condition = """
            <D:and>\(compare("gte", "D:quota-available-bytes", "0"))<D:not><D:or>\(Self.patterns(40))</D:or></D:not>\
            \(compare("gte", "D:quota-used-bytes", "0"))</D:and>
            """
        let isKnown = AsyncLatch()
        let task = Task { @Sendable in
            await isKnown.wait()
            _ = try await share.client.send("SEARCH", "/", text: query(condition, scope: "/a"))
        }
        running.withLock { $0 = task }
        isKnown.open()
        await #expect(throws: HTTPError.self) { try await task.value }
        #expect(asked.load(ordering: .relaxed) == 1)
    }

    // Each operator costs at most two steps per character, whatever its pattern.
    @Test func eachOperatorCostsAtMostTwoStepsPerCharacter() async throws {
        let share = try await Self.share { $0.searchStepLimit = (2 * 200 + 10) * Self.valueLength }
        let condition = "<D:not><D:or>\(Self.patterns(200))</D:or></D:not>"
        let answer = try await share.client.send("SEARCH", "/", text: query(condition, scope: "/a"))
        #expect(hrefs(in: answer.text) == ["/a"])
        #expect(!answer.text.contains("507 Insufficient Storage"))
    }

    // RFC 5323 §2.3.1: above the limit the response is partial and indicates this.
    @Test(arguments: ["", ordered("D:displayname")])
    func responseIsPartialAboveTheLimit(order: String) async throws {
        let limit = Mutex(Int.max)
        func search() async throws -> (found: Int, isPartial: Bool) {
            let share = try TestShare { $0.searchStepLimit = limit.withLock { $0 } }
            #expect(share.shell("touch a b c d") == 0)
            let answer = try await share.client.send(
                "SEARCH", "/", text: query(compare("like", "D:displayname", "_"), order: order))
            #expect(answer.status == 207)
            #expect(answer.text.hasSuffix("</D:multistatus>"))
            let mark = "<D:response><D:href>/</D:href><D:status>HTTP/1.1 507 Insufficient Storage</D:status>"
            #expect(answer.text.contains(mark) == answer.text.contains("too expensive"))
            return (hrefs(in: answer.text).count, answer.text.contains(mark))
        }
        var (low, high) = (0, 100_000)
        while low + 1 < high {
            let middle = (low + high) / 2
            limit.withLock { $0 = middle }
            if try await search().isPartial { low = middle } else { high = middle }
        }
        limit.withLock { $0 = high }
        #expect(try await search() == (4, false))
        limit.withLock { $0 = high - 1 }
        #expect(try await search() == (3, true))
        limit.withLock { $0 = 0 }
        #expect(try await search() == (0, true))
    }

    struct LimitedQuery: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: String
        let status: UInt16

        init(_ description: String, _ body: String, _ status: UInt16) {
            testDescription = description
            self.body = body
            self.status = status
        }
    }

    static let limited = [
        LimitedQuery(
            "longest literal", query(compare("eq", "x:a", String(repeating: "a", count: 8192))), 207),
        LimitedQuery("long literal", query(compare("eq", "x:a", String(repeating: "a", count: 8193))), 422),
        LimitedQuery(
            "long number",
            query(compare("eq", "x:a", String(repeating: "0", count: 8193), type: "integer")), 422),
        LimitedQuery(
            "long language",
            query(compare("language-matches", "x:a", String(repeating: "a", count: 8193))), 422),
        LimitedQuery(
            "longest pattern", query(compare("like", "x:a", String(repeating: "\u{e9}", count: 1024))), 207),
        LimitedQuery(
            "long pattern", query(compare("like", "x:a", String(repeating: "\u{e9}", count: 1025))), 422),
        LimitedQuery(
            "pattern with a long character",
            query(compare("like", "x:a", "e" + String(repeating: "\u{301}", count: 4096))), 422),
        LimitedQuery("longest order", query(order: String(repeating: ordered("x:a"), count: 16)), 207),
        LimitedQuery("long order", query(order: String(repeating: ordered("x:a"), count: 17)), 422),
        LimitedQuery(
            "largest condition",
            query("<D:and>\(String(repeating: "<D:is-collection/>", count: 255))</D:and>"), 207),
        LimitedQuery(
            "large condition",
            query("<D:and>\(String(repeating: "<D:is-collection/>", count: 256))</D:and>"), 422),
        LimitedQuery(
            "most scopes", query(scope: Array(repeating: "/", count: 64).joined(separator: " ")), 207),
        LimitedQuery(
            "many scopes", query(scope: Array(repeating: "/", count: 65).joined(separator: " ")), 422),
    ]

    @Test(arguments: limited)
    func queryPartsAreLimited(row: LimitedQuery) async throws {
        let share = try TestShare()
        #expect(try await share.client.send("SEARCH", "/", text: row.body).status == row.status)
    }

    // The canonical comparison of strings does not depend on their normalization form or length.
    @Test(
        arguments: [
            ("eq", "x:n", "\u{e9}", ["/n"]), ("eq", "x:n", "e", []), ("gt", "x:n", "e", ["/n"]),
            ("gt", "x:n", "f", ["/n"]), ("gt", "x:long", "\u{e9}", ["/n"]), ("eq", "x:long", "\u{e9}", []),
            ("gt", "x:long", "\u{e9}z", ["/n"]), ("eq", "x:number", "7", ["/n"]),
        ] as [(String, String, String, [String])])
    func comparisonsOfLongTexts(name: String, property: String, literal: String, found: [String]) async throws
    {
        let share = try TestShare()
        #expect(try await share.client.send("PUT", "/n", text: "1").status == 201)
        let values = [
            ("n", "e\u{301}"), ("long", String(repeating: "e\u{301}", count: 5000)),
            ("number", String(repeating: " ", count: 1000) + "7"),
        ]
        for (name, value) in values {
            #expect(
                try await share.client.send("PROPPATCH", "/n", text: setProperty(name, value)).status == 207)
        }
        let type = property == "x:number" ? "integer" : nil
        #expect(try await share.found(query(compare(name, property, literal, type: type))) == found)
    }

    // RFC 5323 §2.3.1: if there are too many results to sort, the first ones are returned.
    @Test func orderedResultsAreLimited() async throws {
        for (limit, count) in [(3, 3), (2, 2)] {
            let share = try TestShare { $0.orderedSearchLimit = limit }
            #expect(share.shell("touch a b c") == 0)
            let body = query("<D:not><D:is-collection/></D:not>", order: ordered("D:displayname"))
            let response = try await share.client.send("SEARCH", "/", text: body)
            #expect(hrefs(in: response.text) == Array(["/a", "/b", "/c"].prefix(count)))
            #expect(response.text.contains("507 Insufficient Storage") == (limit < 3))
        }
    }

    // Each result is charged 256 bytes, 32 bytes for its key, and the bytes of its path, href, name and key.
    @Test func bytesOfOrderedResultsAreLimited() async throws {
        let bytes = 3 * (256 + 32 + "a/aaa".utf8.count)
        for (limit, count) in [(bytes, 3), (bytes - 1, 2)] {
            let share = try TestShare { $0.orderedSearchBytes = limit }
            #expect(share.shell("touch a b c") == 0)
            let body = query("<D:not><D:is-collection/></D:not>", order: ordered("D:displayname"))
            let response = try await share.client.send("SEARCH", "/", text: body)
            #expect(hrefs(in: response.text) == Array(["/a", "/b", "/c"].prefix(count)))
            #expect(response.text.contains("507 Insufficient Storage") == (count < 3))
        }
    }

    // A text of up to 1,024 bytes is converted to a number; a longer one is not.
    @Test func convertedTextsAreLimited() async throws {
        for (spaces, found) in [(1_023, ["/n"]), (1_024, [])] {
            let share = try TestShare()
            #expect(share.shell("touch n") == 0)
            let value = String(repeating: " ", count: spaces) + "7"
            #expect(
                try await share.client.send("PROPPATCH", "/n", text: setProperty("p", value)).status == 207)
            #expect(try await share.found(query(compare("eq", "x:p", "7", type: "integer"))) == found)
        }
    }

    // Results are sorted by the first 256 characters of a text.
    @Test func sortKeysAreLimited() async throws {
        for (equal, isOrdered) in [(255, true), (256, false)] {
            let share = try TestShare()
            #expect(share.shell("touch a b") == 0)
            for (name, end) in [("/a", "2"), ("/b", "1")] {
                let value = String(repeating: "x", count: equal) + end
                #expect(
                    try await share.client.send("PROPPATCH", name, text: setProperty("p", value)).status
                        == 207)
            }
            let condition = "<D:not><D:is-collection/></D:not>"
            let upwards = try await share.found(query(condition, order: ordered("x:p")))
            let downwards = try await share.found(
                query(condition, order: ordered("x:p", "<D:descending/>")))
            #expect((upwards == downwards.reversed()) == isOrdered)
            #expect((upwards == downwards) != isOrdered)
        }
    }
}
