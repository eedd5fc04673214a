import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// Partial updates: PUT with Content-Range, and PATCH with X-Update-Range.
struct PartialUpdateTests {
    static let type = ("Content-Type", "application/x-sabredav-partialupdate")

    static func patch(_ range: String, _ body: String, _ status: UInt16, path: String = "/a") -> Scenario.Step
    {
        step("PATCH \(path)", [type, ("X-Update-Range", range)], body, status)
    }

    static func put(_ range: String, _ body: String, _ status: UInt16, path: String = "/a") -> Scenario.Step {
        step("PUT \(path)", [("Content-Range", range)], body, status)
    }

    /// Checks that the content of `/a` equals `text`, in which `printf` interprets backslash escapes.
    static func content(_ text: String) -> Scenario.Step {
        shell("printf '%b' '\(text)' | cmp - a")
    }

    static let start = step("PUT /a", [], "0123456789", 201)

    static let scenarios: [Scenario] = [
        Scenario(
            "RFC 9110 §14.5: a range of a PUT is applied exactly",
            [
                start, put("bytes 4-5/10", "xy", 204), content("0123xy6789"),
                put("bytes 0-9/10", "abcdefghij", 204), content("abcdefghij"),
                put("bytes 9-9/*", "!", 204), content("abcdefghi!"),
                // curl -C and Cyberduck resume with this request: it appends the rest to the stored bytes.
                put("bytes 10-12/13", "KLM", 204), content("abcdefghi!KLM"),
                // The range extends past the end of the file.
                put("bytes 12-14/15", "mno", 204), content("abcdefghi!KLmno"),
                // One of several parts: the complete length is larger than the stored content.
                put("bytes 15-15/100", "p", 204), content("abcdefghi!KLmnop"),
            ]),
        Scenario(
            "RFC 9110 §14.5: an invalid range is refused and changes nothing",
            [
                start, put("bytes 4-5/10", "xyz", 400), put("bytes 4-5/10", "", 400),
                put("bytes 5-4/10", "xy", 400),
                put("bytes 4-5/9", "xy", 400), put("bytes 4-5/5", "xy", 400), put("bytes */10", "xy", 400),
                put("bytes 4-5", "xy", 400), put("items 4-5/10", "xy", 400), put("", "xy", 400),
                put("bytes 0-1,4-5/10", "xyzz", 400),
                put("bytes 9223372036854775806-9223372036854775807/*", "xy", 400),
                step(
                    "PUT /a", [("Content-Range", "bytes 4-5/10"), ("Content-Range", "bytes 4-5/10")], "xy",
                    400),
                // A gap: the client assumes that the preceding bytes are stored.
                put("bytes 11-12/13", "xy", 416), put("bytes 1-2/3", "xy", 416, path: "/none"),
                content("0123456789"), shell("[ ! -e none ]"),
            ]),
        Scenario(
            "A range from the first byte creates a file; the checks are those of PUT",
            [
                put("bytes 0-1/2", "ab", 201), content("ab"), put("bytes 0-1/9", "ab", 201, path: "/part"),
                put("bytes 0-0/1", "x", 409, path: "/no/a"), step("MKCOL /d", [], nil, 201),
                put("bytes 0-0/1", "x", 405, path: "/d"), put("bytes 0-0/1", "x", 409, path: "/new/"),
                put("bytes 0-0/1", "x", 400, path: "/a%00"),
                step("PUT /a", [("Content-Range", "bytes 2-2/3"), ("If-Match", "\"no\"")], "c", 412),
                step("PUT /a", [("Content-Range", "bytes 0-0/3"), ("If-None-Match", "*")], "c", 412),
                step("HEAD /a", [], nil, 200),
                step("PUT /a", [("Content-Range", "bytes 2-2/3"), ("If-Match", "$e")], "c", 204),
                content("abc"),
                lock("/a", depth: "0"), put("bytes 2-2/3", "d", 423), content("abc"),
                step("PUT /a", [("Content-Range", "bytes 2-2/3"), ("If", "(<$1>)")], "d", 204),
                content("abd"),
            ]),
        Scenario(
            "X-Update-Range: every form is supported",
            [
                step("PUT /a", [], "1234567890", 201),
                patch("bytes=0-3", "----", 204), content("----567890"), patch("bytes=1-4", "abcd", 204),
                content("-abcd67890"), patch("bytes=0-", "1234", 204), content("1234d67890"),
                patch("bytes=-4", "wxyz", 204), content("1234d6wxyz"), patch("bytes=-2", "VWXY", 204),
                content("1234d6wxVWXY"), patch("append", "!", 204), content("1234d6wxVWXY!"),
                patch("bytes=15-", "?", 204), content("1234d6wxVWXY!\\0\\0?"), patch("append", "", 204),
                content("1234d6wxVWXY!\\0\\0?"), patch("bytes=-16", "*", 204),
                content("*234d6wxVWXY!\\0\\0?"),
            ]),
        Scenario(
            "X-Update-Range: invalid values are refused",
            [
                start, step("PATCH /a", [type], "x", 400), patch("bytes=x-", "x", 400), patch("", "x", 400),
                patch("bytes=0-1,3-4", "xxxx", 400), patch("bytes=4-3", "x", 416),
                patch("bytes=0-3", "xxx", 416),
                patch("bytes=0-1", "xxx", 416), patch("bytes=-11", "x", 416),
                patch("bytes=9223372036854775807-", "x", 416),
                step("PATCH /a", [("X-Update-Range", "append")], "x", 415),
                step("PATCH /a", [("X-Update-Range", "append"), ("Content-Type", "text/plain")], "x", 415),
                step(
                    "PATCH /a", [("X-Update-Range", "append"), type, ("Content-Encoding", "gzip")], "x", 415),
                step("PATCH /a", [("X-Update-Range", "append"), type], nil, 411),
                patch("append", "x", 404, path: "/none"), patch("append", "x", 404, path: "/a/"),
                patch("append", "x", 404, path: "/no/a"), step("MKCOL /d", [], nil, 201),
                patch("append", "x", 405, path: "/d"), content("0123456789"), shell("[ ! -e none ]"),
            ]),
        Scenario(
            "A PATCH obeys preconditions and locks, and returns the new entity tag",
            [
                start,
                step("PATCH /a", [type, ("X-Update-Range", "append"), ("If-Match", "\"no\"")], "x", 412),
                step("PATCH /a", [type, ("X-Update-Range", "append"), ("If-Match", "$e")], "x", 204),
                step("GET /a", [("If-None-Match", "$e")], nil, 304),
                lock("/a", depth: "0"), patch("append", "y", 423),
                step("PATCH /a", [type, ("X-Update-Range", "append"), ("If", "(<$1>)")], "y", 204),
                step("PATCH /a", [type, ("X-Update-Range", "append"), ("If", "(<urn:x:none>)")], "z", 412),
                content("0123456789xy"),
                step("PROPPATCH /a", [("If", "(<$1>)")], setProperty("p", "kept"), 207),
                step("PATCH /a", [type, ("X-Update-Range", "append"), ("If", "(<$1>)")], "z", 204),
                step("PROPFIND /a", [("Depth", "0")], askProperty("p"), 207, holds: ["kept"]),
                step("PATCH /a", [type, ("X-Update-Range", "append"), ("If", "(<$1>)")], "!", 204),
                content("0123456789xyz!"),
            ]),
        Scenario(
            "A link is followed, and mode and attributes are preserved",
            [
                start, shell("chmod 640 a && ln -s a link"), patch("append", "x", 204, path: "/link"),
                content("0123456789x"), shell("[ -L link ] && [ \"$(stat -c %a a)\" = 640 ]"),
            ]),
    ]

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(_ scenario: Scenario) async throws { try await TestShare.play(scenario) }

    @Test func optionsAndErrorsListAcceptedPatchTypes() async throws {
        let share = try TestShare()
        _ = try await share.client.send("PUT", "/a", text: "x")
        let options = try await share.client.send("OPTIONS", "/a")
        #expect(options["Accept-Patch"] == "\(Self.type.1), application/partial-upload")
        #expect(options["Allow"]?.contains(", PATCH,") == true)
        #expect(options["DAV"]?.contains("sabredav-partialupdate") == true)
        #expect(try await share.client.send("OPTIONS", "/")["Allow"]?.contains(", PATCH,") == false)
        #expect(try await share.client.send("PATCH", "/a", text: "x")["Accept-Patch"] == Self.type.1)
        let late = try await share.client.send(
            "PATCH", "/a", [Self.type, ("X-Update-Range", "bytes=-2")], text: "x")
        #expect(late.status == 416 && late["Content-Range"] == "bytes */1")
    }

    /// Sends parts that are larger than the memory buffer, both with a declared length and chunked. The parts
    /// lie before, across and after the end of the content.
    @Test(arguments: ["/tmp", "/dev/shm"], [true, false])
    func largePartsAreWrittenAtTheirOffsets(parent: String, isChunked: Bool) async throws {
        let share = try TestShare(TemporaryFolder(in: parent))
        var generator = SeededGenerator(seed: 7)
        var expected = (0..<300_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        _ = try await share.client.send("PUT", "/a", body: expected)
        let part = (0..<200_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for offset in [50_000, 299_999, 499_999] {
            let body = ChunkedRequestBody(part, isChunked: isChunked)
            let fields = [Self.type, ("X-Update-Range", "bytes=\(offset)-\(offset + part.count - 1)")]
            let coding = isChunked ? [("Transfer-Encoding", "chunked")] : []
            #expect(try await share.client.send("PATCH", "/a", fields + coding, body: body).status == 204)
            expected = expected.prefix(offset) + part + expected.dropFirst(offset + part.count)
            #expect(try await share.client.send("GET", "/a").body == expected)
        }
        let range = [("Content-Range", "bytes 699999-899999/*")]
        let coding = isChunked ? [("Transfer-Encoding", "chunked")] : []
        let body = ChunkedRequestBody(part, isChunked: isChunked)
        // The content is one byte shorter than the range.
        #expect(try await share.client.send("PUT", "/a", range + coding, body: body).status == 400)
        #expect(try await share.client.send("GET", "/a").body == expected)
        #expect(share.shell("[ $(ls -A | wc -l) = 1 ]") == 0)
    }

    /// Between the copy and the commit, another program appends to the file.
    @Test(arguments: [10, 100_000])
    func changeDuringTheCopyIsNotLost(length: Int) async throws {
        let share = try TestShare()
        _ = try await share.client.send("PUT", "/a", text: "start ")
        let copies = Atomic<Int>(0)
        share.resources.watch { call in
            if call == .stageUpdate, copies.add(1, ordering: .relaxed).newValue == 1 {
                #expect(share.shell("printf 'theirs ' >>a") == 0)
            }
            return nil
        }
        let text = String(repeating: "x", count: length)
        let answer = try await share.client.send(
            "PATCH", "/a", [Self.type, ("X-Update-Range", "append")], text: text)
        #expect(answer.status == 204)
        #expect(copies.load(ordering: .relaxed) == 2)
        #expect(try await share.client.send("GET", "/a").text == "start theirs " + text)
    }

    /// The change between the copy and the commit makes a precondition false or the offset invalid.
    @Test func preconditionsAreCheckedAgainAfterAChangeDuringTheCopy() async throws {
        for (field, change, status) in [
            (("If-Match", "$e"), "printf x >>a", 412), (("Content-Range", "bytes 6-6/7"), "printf y >a", 416),
        ] as [((String, String), String, UInt16)] {
            let share = try TestShare()
            let tag = try await share.client.send("PUT", "/a", text: "start ")["ETag"] ?? ""
            share.resources.watch { call in
                if call == .stageUpdate { #expect(share.shell(change) == 0) }
                return nil
            }
            let fields = [("Content-Range", "bytes 6-6/7"), (field.0, field.1.replacing("$e", with: tag))]
            let answer = try await share.client.send(
                "PUT", "/a", field.0 == "If-Match" ? fields : [fields[1]], text: "!")
            #expect(answer.status == status)
            #expect(share.shell("! grep -q '!' a") == 0)
        }
    }

    @Test func concurrentAppendsAreAllKept() async throws {
        for parent in ["/tmp", "/dev/shm"] {
            let share = try TestShare(TemporaryFolder(in: parent))
            _ = try await share.client.send("PUT", "/a", text: "")
            let statuses = await withTaskGroup(of: UInt16?.self) { group in
                for number in 100..<200 {
                    group.addTask {
                        let fields = [Self.type, ("X-Update-Range", "append")]
                        return try? await share.client.send("PATCH", "/a", fields, text: "\(number);").status
                    }
                }
                return await group.reduce(into: [UInt16: Int]()) { $0[$1 ?? 0, default: 0] += 1 }
            }
            #expect(statuses == [204: 100])
            let parts = try await share.client.send("GET", "/a").text.split(separator: ";")
            #expect(parts.sorted() == (100..<200).map { "\($0)" })
        }
    }

    @Test func abortedPartialUpdateLeavesTheOldContent() async throws {
        let share = try TestShare()
        _ = try await share.client.send("PUT", "/a", text: "old")
        for first in [0, 10, 200_000] {
            let broken = StalledBody(first: [UInt8](repeating: 1, count: first), breaksOff: true)
            broken.mayEnd.open()
            await #expect(throws: HTTPError.disconnected) {
                try await share.client.send(
                    "PATCH", "/a", [Self.type, ("X-Update-Range", "append")], body: broken)
            }
            #expect(try await share.client.send("GET", "/a").text == "old")
        }
        #expect(share.shell("[ $(ls -A | wc -l) = 1 ]") == 0)
    }
}

/// Content that is received in pieces of a few kilobytes, with or without a declared length.
private final class ChunkedRequestBody: RequestBody {
    private var rest: ArraySlice<UInt8>
    let declaredLength: Int64?

    init(_ bytes: [UInt8], isChunked: Bool) {
        rest = bytes[...]
        declaredLength = isChunked ? nil : Int64(bytes.count)
    }

    var isPresent: Bool { true }
    var arrived: [UInt8]? { nil }

    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
        let taken = buffer.append(Array(rest.prefix(min(buffer.freeCount, 7_000))))
        rest = rest.dropFirst(taken)
        return taken
    }
}
