import DavitEngine
import Testing

/// GET, PUT, MKCOL, DELETE, COPY and MOVE: statuses and the resulting files.
struct NamespaceMethodTests {
    static let scenarios: [Scenario] = [
        Scenario(
            "RFC 9110 §9.3.4: PUT creates with 201 and replaces with 204",
            [
                step("PUT /a", [], "one", 201), step("GET /a", [], nil, 200, holds: ["one"]),
                step("PUT /a", [], "two!", 204),
                step("GET /a", [], nil, 200, holds: ["two!"], lacks: ["one"]),
            ]),
        Scenario(
            "RFC 4918 §9.7.1: PUT without a parent gets 409, and PUT onto a collection gets 405",
            [
                step("PUT /no/a", [], "x", 409), step("MKCOL /d", [], nil, 201), step("PUT /d", [], "x", 405),
                step("PUT /d/", [], "x", 405), step("PUT /new/", [], "x", 409),
            ]),
        Scenario(
            "RFC 9110 §8.4: encoded content is refused and changes nothing",
            [
                step("PUT /a", [("Content-Encoding", "identity")], "plain", 201),
                step("PUT /a", [("Content-Encoding", "gzip")], "coded", 415),
                step("PUT /a", [("Content-Encoding", "identity, br")], "coded", 415),
                step("PUT /b", [("content-encoding", "x-unknown")], "coded", 415),
                step("PROPFIND /a", [("Depth", "0"), ("Content-Encoding", "gzip")], "<x/>", 415),
                step("GET /a", [], nil, 200, holds: ["plain"]), step("GET /b", [], nil, 404),
                // Without content there is nothing to encode.
                step("GET /a", [("Content-Encoding", "gzip")], nil, 200, holds: ["plain"]),
            ]),
        Scenario(
            "RFC 4918 §9.3: MKCOL",
            [
                step("MKCOL /d", [], nil, 201), step("MKCOL /d", [], nil, 405),
                step("MKCOL /d/", [], nil, 405),
                step("MKCOL /no/d", [], nil, 409), step("MKCOL /e", [], "<x/>", 415),
                step("PROPFIND /e", [("Depth", "0")], nil, 404), step("PUT /f", [], "", 201),
                step("MKCOL /f", [], nil, 405), step("MKCOL /f/g", [], nil, 409),
                step("MKCOL /", [], nil, 405),
            ]),
        Scenario(
            "RFC 4918 §9.6: DELETE removes the whole tree",
            [
                step("MKCOL /d", [], nil, 201), step("MKCOL /d/e", [], nil, 201),
                step("PUT /d/e/f", [], "x", 201),
                step("DELETE /d", [("Depth", "0")], nil, 400), step("DELETE /d/", [], nil, 204),
                step("GET /d/e/f", [], nil, 404), step("DELETE /d", [], nil, 404),
                step("DELETE /", [], nil, 403),
            ]),
        Scenario(
            "RFC 4918 §9.8.5: COPY",
            [
                step("PUT /a", [], "A", 201), step("COPY /a", [("Destination", "/b")], nil, 201),
                step("COPY /a", [("Destination", "/b"), ("Overwrite", "F")], nil, 412),
                step("COPY /a", [("Destination", "/b"), ("Overwrite", "T")], nil, 204),
                step("COPY /a", [("Destination", "/b")], nil, 204),
                step("COPY /a", [("Destination", "/no/b")], nil, 409),
                step("COPY /a", [("Destination", "/a")], nil, 403), step("COPY /a", [], nil, 400),
                step("COPY /a", [("Destination", "http://elsewhere.example/b")], nil, 502),
                step("COPY /a", [("Destination", "https://LOCALHOST:443/c")], nil, 201),
                step("DELETE /c", [("If", "<HTTP://LocalHost:80/a> ([$e])")], nil, 204),
                step("COPY /no", [("Destination", "/x")], nil, 404),
                step("COPY /a", [("Destination", "/q?x=1")], nil, 400),
                step("MOVE /a", [("Destination", "http://localhost/q?")], nil, 400),
                step("COPY /a", [("Destination", "/q"), ("Destination", "/r")], nil, 400),
                step("GET /b", [], nil, 200, holds: ["A"]),
            ]),
        Scenario(
            "RFC 4918 §9.8.3: COPY of a collection, with Depth infinity and 0",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "A", 201),
                step("MKCOL /d/e", [], nil, 201),
                step("PUT /d/e/b", [], "B", 201), step("COPY /d", [("Destination", "/c")], nil, 201),
                step("GET /c/e/b", [], nil, 200, holds: ["B"]),
                step("COPY /d", [("Destination", "/z"), ("Depth", "0")], nil, 201),
                step("GET /z/a", [], nil, 404),
                step("PROPFIND /z", [("Depth", "1")], nil, 207, lacks: ["/z/a"]),
                step("COPY /d", [("Destination", "/y"), ("Depth", "1")], nil, 400),
                step("COPY /d", [("Destination", "/d/e/f")], nil, 403),
                step("COPY /d/e", [("Destination", "/d")], nil, 403),
            ]),
        Scenario(
            "RFC 4918 §9.8.4: a collection copied over another replaces it, members included",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/new", [], "N", 201),
                step("MKCOL /t", [], nil, 201),
                step("PUT /t/old", [], "O", 201), step("COPY /d", [("Destination", "/t")], nil, 204),
                step("GET /t/old", [], nil, 404), step("GET /t/new", [], nil, 200, holds: ["N"]),
            ]),
        Scenario(
            "RFC 4918 §9.9: MOVE",
            [
                step("PUT /a", [], "A", 201), step("MOVE /a", [("Destination", "/b")], nil, 201),
                step("GET /a", [], nil, 404), step("PUT /c", [], "C", 201),
                step("MOVE /b", [("Destination", "/c"), ("Overwrite", "F")], nil, 412),
                step("MOVE /b", [("Destination", "/c")], nil, 204),
                step("GET /c", [], nil, 200, holds: ["A"]),
                step("MOVE /c", [("Destination", "/c")], nil, 403),
                step("MOVE /c", [("Destination", "/no/c")], nil, 409), step("MKCOL /d", [], nil, 201),
                step("MOVE /d", [("Destination", "/d/e")], nil, 403),
                step("MOVE /d", [("Destination", "/f"), ("Depth", "0")], nil, 400),
                step("MOVE /", [("Destination", "/f")], nil, 403),
                step("MOVE /gone", [("Destination", "/f")], nil, 404),
            ]),
        Scenario(
            "RFC 4918 §9.9.3: a collection replaces a file, a file replaces a collection",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "A", 201), step("PUT /f", [], "F", 201),
                step("MOVE /d", [("Destination", "/f")], nil, 204),
                step("GET /f/a", [], nil, 200, holds: ["A"]),
                step("GET /d/a", [], nil, 404), step("PUT /g", [], "G", 201),
                step("MOVE /g", [("Destination", "/f/")], nil, 204),
                step("GET /f", [], nil, 200, holds: ["G"]),
            ]),
        Scenario(
            "The URL of a collection may end in a slash; that of a file may not",
            [
                step("MKCOL /d/", [], nil, 201),
                step("PROPFIND /d", [("Depth", "0")], nil, 207, holds: ["/d/<"]),
                step("HEAD /d", [], nil, 200), step("HEAD /d/", [], nil, 200), step("PUT /f", [], "x", 201),
                step("GET /f/", [], nil, 404), step("PROPFIND /f/", [("Depth", "0")], nil, 404),
                step("MOVE /d/", [("Destination", "/e")], nil, 201),
            ]),
        Scenario(
            "RFC 9110 §13.1: preconditions on a write",
            [
                step("PUT /a", [("If-Match", "*")], "x", 412),
                step("PUT /a", [("If-None-Match", "*")], "x", 201),
                step("PUT /a", [("If-None-Match", "*")], "y", 412),
                step("PUT /a", [("If-Match", "\"no\"")], "y", 412),
                step("HEAD /a", [], nil, 200), step("PUT /a", [("If-Match", "$e")], "y", 204),
                step("PUT /a", [("If-Match", "not a tag")], "z", 412),
                step("GET /a", [("If-None-Match", "$e")], nil, 304),
                step("DELETE /a", [("If-Match", "\"no\"")], nil, 412),
                step("DELETE /a", [("If-Match", "$e")], nil, 204),
            ]),
        Scenario(
            "Invalid and reserved names",
            [
                step("PUT /\(String(repeating: "n", count: 256))", [], "x", 414),
                step("PUT /\(String(repeating: "n", count: 255))", [], "x", 201),
                step("PUT /.davit-aaaaaaaaaaaaaaaa", [], "x", 403),
                step("GET /.davit-aaaaaaaaaaaaaaaa", [], nil, 403),
                step("PUT /a", [], "x", 201),
                step("MOVE /a", [("Destination", "/.davit-aaaaaaaaaaaaaaaa")], nil, 403),
                step("GET /%2e%2e/etc/passwd", [], nil, 400), step("GET /a%00b", [], nil, 400),
                step("GET /a%2Fb", [], nil, 400), step("PUT /a%23%3F%25%3B", [], "x", 201),
                step("PROPFIND /", [("Depth", "1")], nil, 207, holds: ["/a%23%3F%25%3B<"]),
            ]),
        Scenario(
            "RFC 9110 §15.5.6, §15.6.2: unsupported and unknown methods",
            [
                step("POST /", [], "x", 405), step("PATCH /a", [], "x", 415), step("TRACE /", [], nil, 405),
                step("BREW /", [], nil, 501), step("OPTIONS *", [], nil, 200),
                step("OPTIONS /absent", [], nil, 200),
            ]),
    ]

    @Test(arguments: [
        "GET", "HEAD", "OPTIONS", "PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPFIND", "PROPPATCH", "LOCK",
        "UNLOCK",
    ])
    func reservedNamesAreForbidden(method: String) async throws {
        let body: String? =
            switch method {
            case "PROPPATCH": setProperty("p", "1")
            case "LOCK": lockBody(scope: "exclusive")
            case "PUT": "x"
            default: nil
            }
        for path in ["/.davit-aaaaaaaaaaaaaaaa", "/.davit-aaaaaaaaaaaaaaaa/x", "/d/.davit-2345672345672345/"]
        {
            try await TestShare.play(
                Scenario(
                    method,
                    [
                        step("MKCOL /d", [], nil, 201),
                        step(
                            "\(method) \(path)", [("Destination", "/c"), ("Lock-Token", "<x:y>")], body, 403),
                    ]))
        }
    }

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(_ scenario: Scenario) async throws {
        try await TestShare.play(scenario)
    }

    @Test(arguments: [
        "PUT /a", "DELETE /a", "MKCOL /b", "COPY /a", "MOVE /a", "PROPPATCH /a", "LOCK /a", "UNLOCK /a",
    ])
    func readOnlyShareRefusesEveryChange(line: String) async throws {
        let share = try TestShare { $0.isReadOnly = true }
        try await share.play(
            Scenario(line, [step(line, [("Destination", "/c"), ("Lock-Token", "<x:y>")], "x", 403)]))
    }
}
