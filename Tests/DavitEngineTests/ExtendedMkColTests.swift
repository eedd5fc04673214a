import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// MKCOL with properties (RFC 5689).
struct ExtendedMkColTests {
    static let xml = ("Content-Type", "application/xml; charset=\"utf-8\"")
    static let plain = "<D:resourcetype><D:collection/></D:resourcetype>"

    static func body(_ properties: String) -> String {
        "<D:mkcol xmlns:D=\"DAV:\" xmlns:x=\"urn:x\"><D:set><D:prop>\(properties)</D:prop></D:set></D:mkcol>"
    }

    static let scenarios: [Scenario] = [
        Scenario(
            "RFC 5689 §3: the collection is created with its properties",
            [
                step("MKCOL /d", [xml], body(plain + "<x:p>one</x:p><x:q><x:in/></x:q>"), 201),
                step("PROPFIND /d", [("Depth", "0")], askProperty("p"), 207, holds: ["one", "200 OK"]),
                step("PROPFIND /d", [("Depth", "0")], nil, 207, holds: ["<x:in/>", "<D:collection/>"]),
                step("PUT /d/a", [], "x", 201), step("MOVE /d", [("Destination", "/e")], nil, 201),
                step("PROPFIND /e", [("Depth", "0")], askProperty("p"), 207, holds: ["one"]),
                // Values are set in document order, so the last one applies.
                step("MKCOL /f/", [("Content-Type", "text/xml")], body("<x:p>1</x:p><x:p>2</x:p>"), 201),
                step("PROPFIND /f", [("Depth", "0")], askProperty("p"), 207, holds: [">2<"], lacks: [">1<"]),
                step("MKCOL /g", [], body(plain), 201),
                step("MKCOL /h", [xml], "<D:mkcol xmlns:D='DAV:'/>", 201),
            ]),
        Scenario(
            "RFC 5689 §3, §3.3: atomic, with a status for each property",
            [
                step(
                    "MKCOL /d", [xml],
                    body("<D:resourcetype><D:collection/><x:special/></D:resourcetype><x:p>1</x:p>"), 403,
                    holds: [
                        "<D:mkcol-response",
                        "<D:prop><D:resourcetype/></D:prop><D:status>HTTP/1.1 403 Forbidden",
                        "<D:valid-resourcetype/>", "HTTP/1.1 424 Failed Dependency",
                    ]),
                step("MKCOL /d", [xml], body("<D:resourcetype/>"), 403, holds: ["valid-resourcetype"]),
                step(
                    "MKCOL /d", [xml], body(plain + "<D:getetag>\"x\"</D:getetag><x:p>1</x:p>"), 403,
                    holds: [
                        "<D:prop><D:getetag/></D:prop><D:status>HTTP/1.1 403",
                        "cannot-modify-protected-property",
                        "<D:resourcetype/>", "424",
                    ], lacks: ["valid-resourcetype"]),
                step("PROPFIND /d", [("Depth", "0")], nil, 404), shell("[ $(ls -A | wc -l) = 0 ]"),
            ]),
        Scenario(
            "RFC 4918 §9.2.1: values that PROPPATCH refuses are refused",
            [
                step(
                    "MKCOL /d", [xml],
                    body(
                        plain
                            + "<Z:Win32CreationTime xmlns:Z='urn:schemas-microsoft-com:'>soon</Z:Win32CreationTime>"
                            + "<D:getlastmodified>Mon, 04 Jun 2018 10:11:12 GMT</D:getlastmodified><x:p>1</x:p>"
                    ),
                    403,
                    holds: [
                        "HTTP/1.1 409 Conflict",
                        "<D:prop><D:getlastmodified/></D:prop><D:status>HTTP/1.1 403",
                        "424",
                    ]),
                step("PROPFIND /d", [("Depth", "0")], nil, 404),
                step(
                    "MKCOL /d", [xml],
                    body(
                        "<Z:Win32CreationTime xmlns:Z='urn:schemas-microsoft-com:'>Fri, 15 Jun 2018 06:21:33 GMT</Z:Win32CreationTime>"
                    ), 201),
            ]),
        Scenario(
            "RFC 4918 §9.3.1: other statuses are the same as for MKCOL",
            [
                step("PUT /a", [], "x", 201), step("MKCOL /a", [xml], body(plain), 405),
                step("MKCOL /", [xml], body(plain), 405), step("MKCOL /no/d", [xml], body(plain), 409),
                step("MKCOL /a/d", [xml], body(plain), 409), step("MKCOL /d", [xml], "<D:mkcol", 400),
                step("MKCOL /d", [xml], "<x/>", 415), step("MKCOL /d", [], "<x/>", 415),
                step("MKCOL /d", [], "no XML at all", 415),
                step("MKCOL /d", [("Content-Type", "text/plain")], body(plain), 415),
                step(
                    "MKCOL /d", [xml], "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><D:mkcol xmlns:D='DAV:'/>",
                    403),
                step("MKCOL /d", [xml, ("If-Match", "*")], body(plain), 412),
                step("PROPFIND /d", [("Depth", "0")], nil, 404), step("MKCOL /l", [], nil, 201),
                lock("/l", depth: "0"), step("MKCOL /l/d", [xml], body(plain + "<x:p>1</x:p>"), 423),
                step("MKCOL /l/d", [xml, ("If", "</l/> (<$1>)")], body(plain + "<x:p>1</x:p>"), 201),
            ]),
        Scenario(
            "Properties of an earlier resource with the same name do not reappear",
            [
                step("MKCOL /d", [xml], body("<x:p>old</x:p>"), 201), shell("rmdir d"),
                step("MKCOL /d", [xml], body("<x:q>new</x:q>"), 201),
                step("PROPFIND /d", [("Depth", "0")], nil, 207, holds: ["new"], lacks: ["old"]),
            ]),
    ]

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(_ scenario: Scenario) async throws { try await TestShare.play(scenario) }

    @Test func optionsAnnounceExtendedMkCol() async throws {
        let share = try TestShare()
        for target in ["/", "/none"] {
            #expect(try await share.client.send("OPTIONS", target)["DAV"]?.contains("extended-mkcol") == true)
        }
    }

    /// Another program creates the name between the lookup and the rename: the stored properties are removed,
    /// and no temporary folder remains.
    @Test func collectionCreatedMeanwhileIsNotReplaced() async throws {
        let share = try TestShare()
        share.resources.watch { call in
            if call == .createCollection { #expect(share.shell("mkdir d") == 0) }
            return nil
        }
        let answer = try await share.client.send(
            "MKCOL", "/d", [Self.xml], text: Self.body(Self.plain + "<x:p>1</x:p>"))
        #expect(answer.status == 405)
        let asked = try await share.client.send("PROPFIND", "/d", [("Depth", "0")], text: askProperty("p"))
        #expect(asked.text.contains("404 Not Found"))
        #expect(share.shell("[ $(ls -A | wc -l) = 1 ]") == 0)
    }
}
