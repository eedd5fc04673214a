import DavitEngine
import DavitHTTP
import DavitTesting
import Testing

/// Names that are canonically equivalent in Unicode: é as one code point (`%C3%A9`) and as two (`e%CC%81`).
struct EquivalentNameTests {
    private static let one = "/Caf%C3%A9"
    private static let two = "/Cafe%CC%81"

    static let scenarios: [Scenario] = [
        Scenario(
            "requirement 45 of clients: every method finds a name by another spelling",
            [
                step("PUT \(one)", [], "x", 201), step("GET \(two)", [], nil, 200, holds: ["x"]),
                step("HEAD \(two)", [], nil, 200), step("OPTIONS \(two)", [], nil, 200),
                step("PUT \(two)", [], "new", 204), step("GET \(one)", [], nil, 200, holds: ["new"]),
                step("PROPFIND \(two)", [("Depth", "0")], nil, 207, holds: ["<D:href>\(two)</D:href>"]),
                step("PROPPATCH \(two)", [], setProperty("a", "value"), 207),
                step(
                    "PROPFIND \(one)", [("Depth", "0")], askProperty("a"), 207,
                    holds: [">value<", "<D:href>\(one)</D:href>"]),
                step("COPY \(two)", [("Destination", "/copy")], nil, 201),
                step("GET /copy", [], nil, 200, holds: ["new"]),
                step("MOVE \(two)", [("Destination", "/moved")], nil, 201),
                step("GET \(one)", [], nil, 404), step("PUT \(one)", [], "x", 201),
                step("DELETE \(two)", [], nil, 204), step("GET \(one)", [], nil, 404),
                step("MKCOL \(one)", [], nil, 201), step("MKCOL \(two)", [], nil, 405),
            ]),
        Scenario(
            "requirement 45 of clients: partial updates and POST find a name by another spelling",
            [
                step("PUT \(one)", [], "x", 201),
                step("PATCH \(two)", ShareHooksTests.append, "y", 204),
                step("PUT \(two)", [("Content-Range", "bytes 2-2/3")], "z", 204),
                step("PUT \(two)", [("Content-Range", "bytes 0-0/3")], String(repeating: "z", count: 1), 204),
                lock(one, depth: "0"), step("PATCH \(two)", ShareHooksTests.append, "y", 423),
                step("PATCH \(two)", ShareHooksTests.append + [("If", "(<$1>)")], "!", 204),
                step("GET \(one)", [], nil, 200, holds: ["zyz!"]),
                step("POST /?add-member", [("Slug", "Cafe%CC%81")], "other", 201),
                step("GET \(two)%20(1)", [], nil, 200, holds: ["other"]),
                step("MKCOL \(two)", [ExtendedMkColTests.xml], ExtendedMkColTests.body("<x:p/>"), 405),
                shell("[ $(ls -A | wc -l) = 2 ]"),
            ]),
        Scenario(
            "requirement 35 of clients: hrefs have the client's spelling of the path and stored member names",
            [
                step("MKCOL \(one)", [], nil, 201), step("PUT \(one)/%C3%BC", [], "x", 201),
                step("MKCOL \(two)/o%CC%88", [], nil, 201),
                step("PUT \(one)/%C3%B6/f", [], "deep", 201),
                step("GET \(two)/o%CC%88/f", [], nil, 200, holds: ["deep"]),
                step("PUT \(two)/none/f", [], "x", 409), step("PUT \(two)/%C3%BC/f", [], "x", 409),
                step(
                    "PROPFIND \(two)", [("Depth", "1")], nil, 207,
                    holds: ["<D:href>\(two)/</D:href>", "\(two)/%C3%BC<", "\(two)/o%CC%88/<"], lacks: [one]),
                step(
                    "PROPFIND \(two)/", [("Depth", "infinity")], nil, 207, holds: ["\(two)/o%CC%88/f<"],
                    lacks: [one]),
            ]),
        Scenario(
            "Destination: the existing spelling is replaced; no second spelling is created",
            [
                step("PUT \(one)", [], "old", 201), step("PUT /a", [], "a", 201),
                step("COPY /a", [("Destination", two), ("Overwrite", "F")], nil, 412),
                step("COPY /a", [("Destination", two)], nil, 204),
                step("GET \(one)", [], nil, 200, holds: ["a"]), step("PUT /b", [], "b", 201),
                step("MOVE /b", [("Destination", two), ("Overwrite", "F")], nil, 412),
                step("MOVE /b", [("Destination", two)], nil, 204),
                step("GET \(one)", [], nil, 200, holds: ["b"]),
                step("PROPFIND /", [("Depth", "1")], nil, 207, holds: [one], lacks: [two]),
                step("COPY \(one)", [("Destination", two)], nil, 403),
                step("MKCOL /%C3%A9", [], nil, 201),
                step("MOVE /%C3%A9", [("Destination", "/e%CC%81/x")], nil, 403),
                step("COPY /%C3%A9", [("Destination", "/e%CC%81")], nil, 403),
                step("PUT /%C3%A9/f", [], "f", 201),
                step("MOVE /%C3%A9/f", [("Destination", "/e%CC%81/f")], nil, 403),
                step("GET /%C3%A9/f", [], nil, 200, holds: ["f"]),
            ]),
        Scenario(
            "A rename to another spelling replaces nothing",
            [
                step("PUT \(one)", [], "x", 201), step("PROPPATCH \(one)", [], setProperty("a", "kept"), 207),
                lock(one), step("MOVE \(one)", [("Destination", two), ("Overwrite", "F")], nil, 423),
                step(
                    "MOVE \(one)", [("Destination", two), ("Overwrite", "F"), ("If", "(<$1>)")], nil, 201),
                step("PROPFIND /", [("Depth", "1")], nil, 207, holds: [two], lacks: [one]),
                step("PROPFIND \(one)", [("Depth", "0")], askProperty("a"), 207, holds: [">kept<"]),
                step("PUT \(one)", [], "unlocked", 204),
                step("MKCOL /%C3%A9", [], nil, 201), step("PUT /%C3%A9/f", [], "member", 201),
                step("PROPPATCH /%C3%A9/f", [], setProperty("a", "inner"), 207),
                step("MOVE /e%CC%81/", [("Destination", "http://localhost/e%CC%81/")], nil, 201),
                step("PROPFIND /", [("Depth", "1")], nil, 207, holds: ["/e%CC%81/"], lacks: ["/%C3%A9/"]),
                step("PROPFIND /e%CC%81/f", [("Depth", "0")], askProperty("a"), 207, holds: [">inner<"]),
                step("MOVE /e%CC%81", [("Destination", "/e%CC%81")], nil, 403),
            ]),
        Scenario(
            "Locks apply to every spelling, and are reported with the spelling of the LOCK request",
            [
                lock(two, status: 201), step("PUT \(one)", [], "x", 423),
                step(
                    "PROPFIND \(one)", [("Depth", "0")], nil, 207,
                    holds: ["<D:lockroot><D:href>\(two)</D:href></D:lockroot>"]),
                step("PUT \(one)", [("If", "(<$1>)")], "x", 204),
                step("PUT \(one)", [("If", "<http://localhost\(two)> (<$1>)")], "x", 204),
                step("PUT \(two)", [("If", "<\(one)> ([$e])")], "x", 423),
                lock(one, status: 423), step("DELETE \(one)", [], nil, 423),
                step("UNLOCK \(one)", [("Lock-Token", "<$1>")], nil, 204),
                step("DELETE \(one)", [], nil, 204),
            ]),
        Scenario(
            "Two existing spellings are two resources; a third spelling refers to one of them",
            [
                shell(#"printf nfc > "$(printf 'n\303\251')"; printf nfd > "$(printf 'ne\314\201')""#),
                step("GET /n%C3%A9", [], nil, 200, holds: ["nfc"]),
                step("GET /ne%CC%81", [], nil, 200, holds: ["nfd"]),
                step("PUT /ne%CC%81", [], "changed", 204),
                step("GET /n%C3%A9", [], nil, 200, holds: ["nfc"]),
                step("DELETE /ne%CC%81", [], nil, 204), step("GET /ne%CC%81", [], nil, 200, holds: ["nfc"]),
                step("DELETE /ne%CC%81", [], nil, 204), step("GET /n%C3%A9", [], nil, 404),
                // Q with a dot below and a dot above: the marks in both orders, neither of which has a
                // precomposed form.
                step("PUT /q%CC%87%CC%A3", [], "marks", 201),
                step("GET /q%CC%A3%CC%87", [], nil, 200, holds: ["marks"]),
                // Hangul, and the Ångström sign.
                step("PUT /%ED%95%9C", [], "han", 201),
                step("GET /%E1%84%92%E1%85%A1%E1%86%AB", [], nil, 200, holds: ["han"]),
                step("PUT /%E2%84%AB", [], "A", 201), step("GET /A%CC%8A", [], nil, 200, holds: ["A"]),
                // Compatibility equivalence is not canonical equivalence: the ligature is a different name.
                step("PUT /%EF%AC%81", [], "fi", 201), step("GET /fi", [], nil, 404),
                // The Kelvin sign is canonically equivalent to the letter K.
                step("PUT /K", [], "letter", 201), step("PUT /%E2%84%AA", [], "sign", 204),
            ]),
        Scenario(
            "A link is followed for every spelling of its name",
            [
                step("MKCOL \(one)", [], nil, 201), step("PUT \(one)/f", [], "x", 201),
                shell(#"ln -s "$(printf 'Cafe\314\201')" l"#), step("GET /l/f", [], nil, 200, holds: ["x"]),
                shell(#"ln -s "$(printf 'Caf\303\251')" "$(printf '\303\274')""#),
                step("GET /u%CC%88/f", [], nil, 200, holds: ["x"]),
                step("PUT /u%CC%88/g", [], "x", 201), step("DELETE /u%CC%88", [], nil, 204),
                step("GET \(one)/g", [], nil, 200), step("GET /%C3%BC", [], nil, 404),
            ]),
        Scenario(
            "Names that are not UTF-8 are compared byte by byte, for every method",
            [
                shell(#"printf x > "$(printf 'a\377b')"; mkdir "$(printf '\303')""#),
                step(
                    "PROPFIND /", [("Depth", "1")], nil, 207,
                    holds: [
                        "<D:href>/a%FFb</D:href>", "<D:displayname>a\u{FFFD}b</D:displayname>",
                        "<D:href>/%C3/</D:href>",
                    ]),
                step("PROPFIND /a%ffb", [("Depth", "0")], nil, 207, holds: ["<D:href>/a%ffb</D:href>"]),
                step("GET /a%FFb", [], nil, 200, holds: ["x"]), step("HEAD /a%FFb", [], nil, 200),
                step("GET /a%FEb", [], nil, 404), step("GET /a%EF%BF%BDb", [], nil, 404),
                step("PROPPATCH /a%FFb", [], setProperty("a", "value"), 207), lock("/a%FFb"),
                step("PUT /a%FFb", [], "new", 423), step("PUT /a%FFb", [("If", "(<$1>)")], "new", 204),
                step("UNLOCK /a%FFb", [("Lock-Token", "<$1>")], nil, 204),
                step("COPY /a%FFb", [("Destination", "/%C3/%A9")], nil, 201),
                step("GET /%C3/%A9", [], nil, 200, holds: ["new"]),
                step("MOVE /a%FFb", [("Destination", "/%C3/c%FE")], nil, 201),
                step("PROPFIND /%C3/c%FE", [("Depth", "0")], askProperty("a"), 207, holds: [">value<"]),
                step("MKCOL /%C3/%F0", [], nil, 201), step("DELETE /%C3/c%FE", [], nil, 204),
                step("MOVE /%C3", [("Destination", "/%80/")], nil, 201),
                step("GET /%80/%A9", [], nil, 200, holds: ["new"]), step("DELETE /%80/", [], nil, 204),
            ]),
        Scenario(
            "Names of 255 bytes are valid; longer names cannot be created",
            [
                step("PUT /\(longest)", [], "x", 201), step("GET /\(longest)", [], nil, 200, holds: ["x"]),
                step("PUT /\(longest)a", [], "x", 414), step("MKCOL /\(longest)a", [], nil, 414),
                step("PUT /\(longest)a/f", [], "x", 414),
                step("MOVE /\(longest)", [("Destination", "/\(longest)a")], nil, 414),
                step("COPY /\(longest)", [("Destination", "/\(longest)a")], nil, 414),
                step("LOCK /\(longest)a", [], lockBody(scope: "exclusive"), 414),
                step("GET /\(longest)a", [], nil, 404), step("HEAD /\(longest)a", [], nil, 404),
                step("PROPFIND /\(longest)a", [("Depth", "0")], nil, 404),
                step("PUT /b", [("If", "</\(longest)a> (Not <urn:x>)")], "x", 201),
                step("GET /\(longest)", [], nil, 200, holds: ["x"]),
            ]),
    ]

    private static let longest = String(repeating: "%C3%BC", count: 127) + "b"

    @Test(arguments: scenarios)
    func nameIsFoundByEveryEquivalentSpelling(scenario: Scenario) async throws {
        try await TestShare.play(scenario)
    }

    static let races: [(method: String, statuses: [UInt16: Int])] = [
        ("PUT", [201: 1, 204: 39]), ("MKCOL", [201: 1, 405: 39]), ("LOCK", [201: 1, 423: 39]),
        ("COPY", [201: 1, 204: 39]), ("MOVE", [201: 1, 412: 39]),
    ]

    /// Forty concurrent requests use three spellings of one name.
    @Test(arguments: races, ["/tmp", "/dev/shm"])
    func concurrentSpellingsCreateOneResource(race: (method: String, statuses: [UInt16: Int]), parent: String)
        async throws
    {
        let share = try TestShare(TemporaryFolder(in: parent))
        let spellings = ["%C7%97", "%C3%9C%CC%81", "U%CC%88%CC%81", "%C7%97"].map { "/n" + $0 }
        for number in 0..<40 { _ = try await share.client.send("PUT", "/s\(number)", text: "x") }
        let statuses = await withTaskGroup(of: UInt16?.self) { group in
            for number in 0..<40 {
                group.addTask {
                    try? await send(race.method, spellings[number % 4], number, to: share)
                }
            }
            return await group.reduce(into: [UInt16: Int]()) { counts, status in
                counts[status ?? 0, default: 0] += 1
            }
        }
        #expect(statuses == race.statuses)
        let listing = try await share.client.send("PROPFIND", "/", [("Depth", "1")])
        let moved = race.method == "MOVE" ? 1 : 0
        #expect(listing.text.components(of: "<D:response>") == 42 - moved)
    }

    /// The names known to the server must not hide a file that another program creates, or show one that it
    /// removes.
    @Test(arguments: ["/tmp", "/dev/shm"])
    func changesByOtherProgramsAreVisibleImmediately(parent: String) async throws {
        let folder = try TemporaryFolder(in: parent)
        let share = try TestShare(folder)
        for number in 0..<50 {
            #expect(try await share.client.send("GET", "/u%CC%88\(number)").status == 404)
            try folder.makeFile("\u{FC}\(number)")
            #expect(try await share.client.send("GET", "/u%CC%88\(number)").status == 200)
            #expect(try await share.client.send("PUT", "/u%CC%88-\(number)", text: "x").status == 201)
        }
        #expect(share.shell("rm *") == 0)
        for number in 0..<50 {
            #expect(try await share.client.send("GET", "/u%CC%88\(number)").status == 404)
            #expect(try await share.client.send("GET", "/%C3%BC-\(number)").status == 404)
        }
    }

    /// While an upload for one spelling is received, another client creates another spelling; the upload
    /// replaces that resource.
    @Test func uploadReplacesAnEquivalentNameCreatedMeanwhile() async throws {
        let share = try TestShare()
        let stalled = StalledBody(first: [UInt8](repeating: 1, count: 100_000))
        async let slow = share.client.send("PUT", "/%C3%BC", body: stalled)
        await stalled.isWaiting.wait()
        #expect(try await share.client.send("PUT", "/u%CC%88", text: "quick").status == 201)
        stalled.mayEnd.open()
        #expect(try await slow.status == 204)
        #expect(try await share.client.send("GET", "/u%CC%88").body.count >= 100_000)
        #expect(
            try await share.client.send("PROPFIND", "/", [("Depth", "1")]).text.components(of: "<D:response>")
                == 2)
    }
}

private func send(_ method: String, _ target: String, _ number: Int, to share: TestShare) async throws
    -> UInt16
{
    let client = share.client
    switch method {
    case "PUT": return try await client.send("PUT", target, text: "x").status
    case "LOCK":
        return try await client.send("LOCK", target, [("Depth", "0")], text: lockBody(scope: "exclusive"))
            .status
    case "MKCOL": return try await client.send("MKCOL", target).status
    default:
        let overwrite = method == "MOVE" ? "F" : "T"
        let fields = [("Destination", target), ("Overwrite", overwrite)]
        return try await client.send(method, "/s\(number)", fields).status
    }
}
