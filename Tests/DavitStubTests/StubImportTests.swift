import DavitHTTP
import DavitRecording
import DavitTesting
import Testing

@testable import DavitStub

/// Recordings and HTTP archives become rules that give the recorded responses.
struct StubImportTests {
    private func stub(_ imported: StubImport) throws -> StubFixture {
        let stub = try StubFixture()
        for rule in imported.rules.reversed() { try stub.state.store(rule) }
        return stub
    }

    private func imported(_ exchanges: String) throws -> StubImport {
        var imported = StubImport()
        imported.add(try TranscriptParser.parse(Array("WIRE-TRANSCRIPT 2\n\(exchanges)\n".utf8)), file: "r")
        return imported
    }

    @Test func recordingIsAnsweredInOrder() async throws {
        let imported = try imported(
            """
            === 1
            > GET /a?x=1
            > Host: h
            < 200
            < Content-Type: text/plain
            < Date: Sat, 21 Nov 2026 12:00:00 GMT
            < ETag: "1"
            | one
            === 2
            > PUT /a?x=1
            > Host: h
            > Content-Length: 3
            | two
            < 204
            === 3
            > GET /a?x=1
            > Host: h
            < 200
            : \\x00\\xff
            === 4
            > GET /cut
            > Host: h
            """)
        #expect(imported.rules.map(\.name) == ["GET /a #1", "PUT /a #2"])
        #expect(imported.remarks.count == 1)
        let stub = try stub(imported)
        let first = try await stub.send("GET", "/a?x=1")
        #expect(first.text == "one" && first["ETag"] == "\"1\"" && first["Date"] == nil)
        #expect(try await stub.send("PUT", "/a?x=1").status == 204)
        for _ in 0..<2 { #expect(try await stub.send("GET", "/a?x=1").body == [0, 255]) }
        #expect(try await stub.send("GET", "/a?x=2").status == 404)
    }

    /// Requests that differ only in Depth or Destination have rules of their own.
    @Test func decidingFieldsAreConditions() async throws {
        let stub = try stub(
            imported(
                """
                === 1
                > PROPFIND /
                > Depth: 0
                < 207
                | zero
                === 2
                > PROPFIND /
                > Depth: 1
                < 207
                | one
                === 3
                > MOVE /a
                > Destination: http://recorded:80/b%20c
                < 201
                """))
        #expect(try await stub.send("PROPFIND", "/", [("Depth", "1")]).text == "one")
        #expect(try await stub.send("PROPFIND", "/", [("Depth", "0")]).text == "zero")
        #expect(try await stub.send("MOVE", "/a", [("Destination", "http://other/b%20c")]).status == 201)
        #expect(try await stub.send("MOVE", "/a", [("Destination", "http://other/c")]).status == 404)
    }

    @Test func archiveIsImported() async throws {
        let archive = #"""
            {"log": {"entries": [
              {"request": {"method": "GET", "url": "https://example.org/a?b=c#d", "headers": []},
               "response": {"status": 200, "headers": [{"name": "Content-Type", "value": "text/plain"},
                 {"name": "Set-Cookie", "value": "token=secret"}, {"name": "content-encoding", "value": "gzip"}],
                 "content": {"text": "aGk=", "encoding": "base64"}}},
              {"request": {"method": "GET", "url": "https://example.org", "headers": []},
               "response": {"status": 404, "headers": [], "content": {}}},
              {"request": {"method": "GET", "url": "https://example.org/x"}, "response": {"status": 0}}
            ]}}
            """#
        var imported = StubImport()
        try imported.addHAR(Array(archive.utf8), file: "a.har")
        #expect(imported.remarks == ["a.har, entry 3: without a usable request and response; left out"])
        let stub = try stub(imported)
        let response = try await stub.send("GET", "/a?b=c")
        #expect(
            response.text == "hi" && response["Set-Cookie"] == "***" && response["Content-Encoding"] == nil)
        #expect(try await stub.send("GET", "/").status == 404)
        #expect(throws: StubError.self) { try imported.addHAR(Array("{}".utf8), file: "b.har") }
    }
}
