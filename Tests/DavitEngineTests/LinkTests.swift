import DavitEngine
import DavitTesting
import Testing

/// Symbolic links in the folder: aliases of their targets that do not bypass any check.
struct LinkTests {
    static let scenarios: [Scenario] = [
        Scenario(
            "PUT writes to the target of a link; DELETE and MOVE act on the link",
            [
                step("PUT /t", [], "one", 201), shell("ln -s t l"), step("PUT /l", [], "two", 204),
                shell("test -L l"), step("GET /t", [], nil, 200, holds: ["two"]),
                step("MOVE /l", [("Destination", "/m")], nil, 201), shell("test -L m"),
                step("DELETE /m", [], nil, 204), step("GET /t", [], nil, 200, holds: ["two"]),
            ]),
        Scenario(
            "RFC 4918 §9.9.4: a link does not replace its own target",
            [
                step("PUT /t", [], "kept", 201), shell("ln -s t l"),
                step("MOVE /l", [("Destination", "/t")], nil, 403),
                step("COPY /l", [("Destination", "/t")], nil, 403),
                step("GET /t", [], nil, 200, holds: ["kept"]), step("MKCOL /d", [], nil, 201),
                step("PUT /d/f", [], "kept too", 201), shell("ln -s d/f m && ln -s d n"),
                step("MOVE /m", [("Destination", "/d")], nil, 403),
                step("MOVE /n", [("Destination", "/d")], nil, 403),
                step("MOVE /n", [("Destination", "/d/x")], nil, 403),
                step("MOVE /n", [("Destination", "/n/x")], nil, 403),
                step("GET /d/f", [], nil, 200, holds: ["kept too"]),
            ]),
        Scenario(
            "Preconditions on a link apply to its target",
            [
                step("PUT /t", [], "x", 201), shell("ln -s t l && ln -s t m"), step("HEAD /l", [], nil, 200),
                step("DELETE /l", [("If-Match", "\"no\"")], nil, 412),
                step("DELETE /l", [("If-Match", "$e")], nil, 204),
                step("MOVE /m", [("Destination", "/n"), ("If", "([$e])")], nil, 201),
                step("GET /t", [], nil, 200),
            ]),
        Scenario(
            "RFC 4918 §7: a lock applies to both names and protects the name of the link",
            [
                step("PUT /t", [], "x", 201), shell("ln -s t l && ln -s t m"), lock("/l", depth: "0"),
                step("PUT /t", [], "y", 423), step("PUT /m", [], "y", 423),
                step("PROPFIND /t", [("Depth", "0")], nil, 207, holds: ["$1"]),
                step("DELETE /l", [], nil, 423), step("PUT /a", [], "a", 201),
                step("MOVE /a", [("Destination", "/l")], nil, 423),
                step("MOVE /a", [("Destination", "/l"), ("If", "</l> (<$1>)")], nil, 204),
                step("DELETE /m", [("If", "(<$1>)")], nil, 204),
                step("UNLOCK /t", [("Lock-Token", "<$1>")], nil, 204),
            ]),
        Scenario(
            "A link to a collection is a collection, with and without a trailing slash",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/f", [], "x", 201),
                shell("ln -s d l && ln -s d m"),
                step("PROPFIND /l", [("Depth", "1")], nil, 207, holds: ["/l/<", "/l/f<"]),
                step("PROPFIND /", [("Depth", "1")], nil, 207, holds: ["/l/<"]),
                step("MOVE /l/", [("Destination", "/n/")], nil, 201), step("GET /n/f", [], nil, 200),
                step("MOVE /n", [("Destination", "/l"), ("Depth", "0")], nil, 400),
                step("DELETE /n/", [], nil, 204), step("DELETE /m", [], nil, 204),
                step("GET /d/f", [], nil, 200),
            ]),
        Scenario(
            "COPY follows links at both ends; MOVE replaces the link",
            [
                step("PUT /a", [], "A", 201), step("PUT /t", [], "T", 201), shell("ln -s t l"),
                step("COPY /a", [("Destination", "/l")], nil, 204), shell("test -L l"),
                step("GET /t", [], nil, 200, holds: ["A"]), step("PUT /t", [], "T", 204),
                step("COPY /l", [("Destination", "/c")], nil, 201), shell("test -f c && test ! -L c"),
                step("MOVE /a", [("Destination", "/l")], nil, 204), shell("test ! -L l"),
                step("GET /t", [], nil, 200, holds: ["T"]),
            ]),
        Scenario(
            "Links that lead outside, are broken or circular are not found, but occupy their names",
            [
                shell("ln -s /etc/passwd out && ln -s gone gone && ln -s loop loop && mkfifo pipe"),
                step("GET /out", [], nil, 404), step("GET /loop", [], nil, 404),
                step("GET /pipe", [], nil, 404),
                step("PROPFIND /loop", [("Depth", "0")], nil, 404), step("OPTIONS /loop", [], nil, 200),
                step("PUT /out", [], "x", 403), step("PUT /loop", [], "x", 403),
                step("PUT /pipe", [], "x", 403),
                step("MKCOL /out", [], nil, 403), step("MKCOL /loop", [], nil, 403),
                step("MKCOL /pipe", [], nil, 403), lock("/loop", status: 403), lock("/pipe", status: 403),
                step("DELETE /loop", [], nil, 404), step("PUT /a", [], "x", 201),
                step("COPY /a", [("Destination", "/loop")], nil, 403),
                step("MOVE /a", [("Destination", "/loop")], nil, 403),
                step("PROPFIND /", [("Depth", "1")], nil, 207, lacks: ["loop", "out", "pipe"]),
            ]),
        Scenario(
            "A listing does not enter a collection that is already on its path",
            [
                step("MKCOL /d", [], nil, 201), shell("ln -s .. d/up && ln -s . d/self"),
                step("PUT /d/f", [], "x", 201),
                step(
                    "PROPFIND /", [], nil, 207, holds: ["/d/f<", "/d/up/<", "/d/self/<"], lacks: ["/d/up/d"]
                ),
            ]),
        Scenario(
            "Properties belong to the target of a link",
            [
                step("PUT /t", [], "x", 201), shell("ln -s t l"),
                step("PROPPATCH /l", [], setProperty("p", "one"), 207),
                step("PROPFIND /t", [("Depth", "0")], askProperty("p"), 207, holds: [">one</"]),
                step("DELETE /l", [], nil, 204),
                step("PROPFIND /t", [("Depth", "0")], askProperty("p"), 207, holds: [">one</"]),
            ]),
        Scenario(
            "RFC 4918 §10.4.4: only negated conditions are true for a path that cannot exist",
            [
                step("PUT /a", [("If", "</.davit-aaaaaaaaaaaaaaaa> ([\"x\"])")], "x", 412),
                step("PUT /a", [("If", "</.davit-aaaaaaaaaaaaaaaa> (Not [\"x\"])")], "x", 201),
                shell("ln -s loop loop"), step("PUT /a", [("If", "</loop> (Not <urn:x>)")], "x", 204),
                step(
                    "PUT /a", [("If", "</\(String(repeating: "n", count: 300))> (Not <urn:x>)")], "x", 204),
            ]),
        Scenario(
            "RFC 4918 §9.6.1: DELETE that keeps a locked member also removes files that are never listed",
            [
                step("MKCOL /d", [], nil, 201), step("MKCOL /d/e", [], nil, 201),
                shell("mkfifo d/e/pipe && ln -s /etc d/e/out && touch d/e/x"), step("PUT /d/f", [], "x", 201),
                lock("/d/f", depth: "0"),
                step(
                    "DELETE /d", [], nil, 207, holds: ["/d/f<", "HTTP/1.1 423"],
                    lacks: ["/d/e", "HTTP/1.1 412"]),
                shell("test ! -e d/e && test -e d/f"),
            ]),
        Scenario(
            "RFC 9110 §13.1.3: the modification time of a collection does not validate its page",
            [
                step("MKCOL /d", [], nil, 201),
                step("GET /d/", [("If-Modified-Since", "Sat, 01 Jan 2050 00:00:00 GMT")], nil, 200),
                step("GET /d/", [("If-None-Match", "*")], nil, 304),
                step("DELETE /d/", [("If-None-Match", "*")], nil, 412),
                step("DELETE /d/", [("If-Match", "\"x\"")], nil, 412),
                step("DELETE /d/", [("If-Match", "*")], nil, 204),
            ]),
        Scenario(
            "Names may contain invalid UTF-8 and characters that XML forbids",
            [
                step("PUT /%FF%01%22%3C%26", [], "x", 201),
                step("PROPPATCH /%FF%01%22%3C%26", [], setProperty("p", "odd"), 207),
                step(
                    "PROPFIND /", [("Depth", "1")], nil, 207, holds: ["/%FF%01%22%3C%26</D:href>", ">odd</"],
                    lacks: ["\u{1}"]), shell("ls | wc -l | grep -q 1"),
                step("DELETE /%FF%01%22%3C%26", [], nil, 204),
            ]),
    ]

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(_ scenario: Scenario) async throws {
        try await TestShare.play(scenario)
    }

    @Test func uploadThroughALinkIsRefusedIfItsTargetChanges() async throws {
        let share = try TestShare()
        _ = try await share.client.send("PUT", "/a", text: "A")
        _ = try await share.client.send("PUT", "/b", text: "B")
        #expect(share.shell("ln -s a l") == 0)
        let stalled = StalledBody(first: [UInt8](repeating: 1, count: 100_000))
        async let slow = share.client.send("PUT", "/l", body: stalled)
        await stalled.isWaiting.wait()
        #expect(share.shell("ln -sfn b l") == 0)
        stalled.mayEnd.open()
        #expect(try await slow.status == 503)
        #expect(try await share.client.send("GET", "/a").text == "A")
        #expect(try await share.client.send("GET", "/b").text == "B")
        #expect(share.share.pathLocks.count == 0)
    }
}
