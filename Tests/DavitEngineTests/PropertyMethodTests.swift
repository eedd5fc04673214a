import DavitEngine
import Testing

/// PROPFIND and PROPPATCH.
struct PropertyMethodTests {
    static let scenarios: [Scenario] = [
        Scenario(
            "RFC 4918 §9.2: a dead property is stored, replaced and removed",
            [
                step("PUT /a", [], "x", 201),
                step("PROPPATCH /a", [], setProperty("p", "one"), 207, holds: ["200 OK"]),
                step(
                    "PROPFIND /a", [("Depth", "0")], askProperty("p"), 207, holds: [">one</", "200 OK"],
                    lacks: ["404 Not Found"]),
                step("PROPPATCH /a", [], setProperty("p", "two"), 207),
                step("PROPFIND /a", [("Depth", "0")], nil, 207, holds: [">two</"], lacks: [">one</"]),
                step(
                    "PROPPATCH /a", [],
                    "<D:propertyupdate xmlns:D=\"DAV:\" xmlns:x=\"urn:x\"><D:remove><D:prop><x:p/></D:prop></D:remove></D:propertyupdate>",
                    207, holds: ["200 OK"]),
                step(
                    "PROPFIND /a", [("Depth", "0")], askProperty("p"), 207, holds: ["404 Not Found"],
                    lacks: ["200 OK"]),
                step("PROPPATCH /no", [], setProperty("p", "1"), 404),
            ]),
        Scenario(
            "RFC 4918 §9.2: PROPPATCH is atomic, and refuses protected properties",
            [
                step("PUT /a", [], "x", 201),
                step(
                    "PROPPATCH /a", [],
                    """
                    <D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x"><D:set><D:prop><x:p>1</x:p></D:prop></D:set>\
                    <D:set><D:prop><D:getetag>"x"</D:getetag></D:prop></D:set></D:propertyupdate>
                    """, 207,
                    holds: ["403 Forbidden", "424 Failed Dependency", "cannot-modify-protected-property"],
                    lacks: ["200 OK"]),
                step("PROPFIND /a", [("Depth", "0")], askProperty("p"), 207, holds: ["404 Not Found"]),
            ]),
        Scenario(
            "RFC 4918 §9.2: instructions run in document order",
            [
                step("PUT /a", [], "x", 201),
                step(
                    "PROPPATCH /a", [],
                    """
                    <D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x"><D:set><D:prop><x:p>1</x:p><x:q>1</x:q></D:prop></D:set>\
                    <D:remove><D:prop><x:p/></D:prop></D:remove><D:set><D:prop><x:q>2</x:q></D:prop></D:set>\
                    </D:propertyupdate>
                    """, 207),
                step("PROPFIND /a", [("Depth", "0")], askProperty("p"), 207, holds: ["404 Not Found"]),
                step("PROPFIND /a", [("Depth", "0")], askProperty("q"), 207, holds: [">2</"]),
            ]),
        Scenario(
            "RFC 4918 §9.8.2, §9.9.1: COPY copies properties, MOVE carries them, PUT keeps them, DELETE drops them",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "x", 201),
                step("PROPPATCH /d/a", [], setProperty("p", "one"), 207),
                step("PROPPATCH /d", [], setProperty("p", "dir"), 207), step("PUT /d/a", [], "new", 204),
                step("PUT /d/a", [], "newer", 204),
                step("PROPFIND /d", [("Depth", "1")], askProperty("p"), 207, holds: [">one</", ">dir</"]),
                step("COPY /d", [("Destination", "/c")], nil, 201),
                step("PROPFIND /c", [("Depth", "1")], askProperty("p"), 207, holds: [">one</", ">dir</"]),
                step("MOVE /c", [("Destination", "/m")], nil, 201),
                step(
                    "PROPFIND /m", [("Depth", "infinity")], askProperty("p"), 207,
                    holds: [">one</", ">dir</"]),
                step("PROPFIND /d", [("Depth", "1")], askProperty("p"), 207, holds: [">one</", ">dir</"]),
                step("DELETE /m", [], nil, 204), step("MKCOL /m", [], nil, 201),
                step("PROPFIND /m", [("Depth", "0")], askProperty("p"), 207, lacks: [">dir</"]),
            ]),
        Scenario(
            "COPY and MOVE onto a resource replace its properties with those of the source",
            [
                step("PUT /a", [], "a", 201), step("PUT /b", [], "b", 201), step("PUT /c", [], "c", 201),
                step("PROPPATCH /a", [], setProperty("p", "one"), 207),
                step("PROPPATCH /b", [], setProperty("q", "two"), 207),
                step("COPY /a", [("Destination", "/b")], nil, 204),
                step("PROPFIND /b", [("Depth", "0")], nil, 207, holds: [">one</"], lacks: [">two</"]),
                step("MOVE /c", [("Destination", "/b")], nil, 204),
                step("PROPFIND /b", [("Depth", "0")], nil, 207, lacks: [">one</", ">two</"]),
                step("MOVE /a", [("Destination", "/b")], nil, 204),
                step("PROPFIND /b", [("Depth", "0")], nil, 207, holds: [">one</"]),
            ]),
        Scenario(
            "RFC 4918 §9.1: Depth, and the order of the responses",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "x", 201),
                step("MKCOL /d/e", [], nil, 201),
                step("PUT /d/e/b", [], "x", 201),
                step("PROPFIND /d", [("Depth", "0")], nil, 207, holds: ["/d/<"], lacks: ["/d/a<"]),
                step(
                    "PROPFIND /d", [("Depth", "1")], nil, 207, holds: ["/d/a<", "/d/e/<"], lacks: ["/d/e/b<"]),
                step("PROPFIND /d", [], nil, 207, holds: ["/d/e/b<"]),
                step("PROPFIND /d", [("Depth", "2")], nil, 400),
                step("PROPFIND /d/a", [("Depth", "1")], nil, 207, holds: ["/d/a<"]),
                step("PROPFIND /no", [("Depth", "0")], nil, 404),
            ]),
        Scenario(
            "RFC 4918 §9.1.4, §9.1.5, §9.1.6: propname, allprop, include",
            [
                step("PUT /a", [], "x", 201), step("PROPPATCH /a", [], setProperty("p", "one"), 207),
                step(
                    "PROPFIND /a", [("Depth", "0")],
                    "<D:propfind xmlns:D=\"DAV:\"><D:propname/></D:propfind>", 207,
                    holds: ["getetag", "resourcetype", "quota-used-bytes"], lacks: [">one</", "text/"]),
                step(
                    "PROPFIND /a", [("Depth", "0")], "<D:propfind xmlns:D=\"DAV:\"><D:allprop/></D:propfind>",
                    207,
                    holds: [">one</"], lacks: ["quota"]),
                step(
                    "PROPFIND /a", [("Depth", "0")],
                    "<D:propfind xmlns:D=\"DAV:\"><D:allprop/><D:include><D:quota-used-bytes/></D:include></D:propfind>",
                    207, holds: [">one</", "quota-used-bytes"], lacks: ["404 Not Found"]),
            ]),
        Scenario(
            "RFC 4918 §9.1, §20.6: invalid and malicious bodies are refused",
            [
                step("PROPFIND /", [], "<D:propfind xmlns:D=\"DAV:\">", 400),
                step("PROPFIND /", [], "nonsense", 400),
                step(
                    "PROPFIND /", [], "<D:propfind xmlns:D=\"DAV:\"><D:prop/><D:allprop/></D:propfind>", 400),
                step(
                    "PROPFIND /", [],
                    "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><D:propfind xmlns:D=\"DAV:\"><D:prop>&e;</D:prop></D:propfind>",
                    403, holds: ["no-external-entities"], lacks: ["root:"]),
                step(
                    "PROPFIND /", [],
                    "<!DOCTYPE x [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]><D:propfind xmlns:D=\"DAV:\">&b;</D:propfind>",
                    400),
                step("PROPFIND /", [], String(repeating: " ", count: 1 << 20) + "<x/>", 413),
            ]),
        Scenario(
            "The executable property is T or F",
            [
                step("PUT /a", [], "x", 201),
                step(
                    "PROPPATCH /a", [],
                    "<D:propertyupdate xmlns:D=\"DAV:\" xmlns:A=\"http://apache.org/dav/props/\"><D:set><D:prop><A:executable>T</A:executable></D:prop></D:set></D:propertyupdate>",
                    207, holds: ["200 OK"]),
                step(
                    "PROPFIND /a", [("Depth", "0")],
                    "<D:propfind xmlns:D=\"DAV:\" xmlns:A=\"http://apache.org/dav/props/\"><D:prop><A:executable/></D:prop></D:propfind>",
                    207, holds: [">T</"]),
            ]),
        Scenario(
            "LOCK, UNLOCK and PROPPATCH do not change the entity tag",
            [
                step("PUT /a", [], "x", 201), lock("/a", depth: "0"),
                step("PROPPATCH /a", [("If", "(<$1>)")], setProperty("p", "1"), 207),
                step("UNLOCK /a", [("Lock-Token", "<$1>")], nil, 204),
                step("GET /a", [("If-None-Match", "$e")], nil, 304),
                step("MOVE /a", [("Destination", "/b")], nil, 201),
                step("GET /b", [("If-None-Match", "$e")], nil, 304),
            ]),
    ]

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(_ scenario: Scenario) async throws {
        try await TestShare.play(scenario)
    }

    @Test func infiniteDepthIsRefusedOnlyIfDisabled() async throws {
        let share = try TestShare { $0.allowsInfiniteDepth = false }
        try await share.play(
            Scenario(
                "RFC 4918 §9.1",
                [
                    step("PROPFIND /", [("Depth", "infinity")], nil, 403, holds: ["propfind-finite-depth"]),
                    step("PROPFIND /", [], nil, 207),
                ]))
    }
}
