import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import DavitWebDAV
import Testing

/// Live properties that clients set: times and attributes, as sent by Windows, rclone and others.
struct PropertyTimeTests {
    static let time = "Mon, 04 Jun 2018 10:11:12 GMT"
    static let seconds = "1528107072"

    /// Returns a PROPPATCH body of elements in the namespaces `D`, `Z` (Windows) and `x`.
    static func set(_ elements: String, remove: String = "") -> String {
        let removed = remove.isEmpty ? "" : "<D:remove><D:prop>\(remove)</D:prop></D:remove>"
        return """
            <D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:" xmlns:x="urn:x" \
            xmlns:A="http://apache.org/dav/props/"><D:set><D:prop>\(elements)</D:prop></D:set>\(removed)\
            </D:propertyupdate>
            """
    }

    static func ask(_ elements: String) -> String {
        """
        <D:propfind xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:" xmlns:x="urn:x">\
        <D:prop>\(elements)</D:prop></D:propfind>
        """
    }

    static let explorer = """
        <Z:Win32CreationTime>Fri, 15 Jun 2018 06:21:33 GMT</Z:Win32CreationTime>\
        <Z:Win32LastAccessTime>Fri, 15 Jun 2018 06:26:41 GMT</Z:Win32LastAccessTime>\
        <Z:Win32LastModifiedTime>\(time)</Z:Win32LastModifiedTime>\
        <Z:Win32FileAttributes>00000020</Z:Win32FileAttributes>
        """
    static let askExplorer =
        "<Z:Win32CreationTime/><Z:Win32LastAccessTime/><Z:Win32LastModifiedTime/><Z:Win32FileAttributes/>"
        + "<D:getlastmodified/><D:lastmodified/>"

    static let scenarios: [Scenario] = [
        Scenario(
            "Properties set by Explorer are stored, with and without If, for files and collections",
            [
                step("PUT /a", [], "x", 201), lock("/a", depth: "0"),
                step("PROPPATCH /a", [], set(explorer), 423),
                step(
                    "PROPPATCH /a", [("If", "(<$1>)")], set(explorer), 207,
                    holds: [
                        #"<N:Win32CreationTime xmlns:N="urn:schemas-microsoft-com:"/>"#,
                        #"<N:Win32LastModifiedTime xmlns:N="urn:schemas-microsoft-com:"/>"#, "200 OK",
                    ], lacks: ["HTTP/1.1 403", "HTTP/1.1 409", "HTTP/1.1 424"]),
                step(
                    "PROPFIND /a", [("Depth", "0")], ask(askExplorer), 207,
                    holds: [
                        ">Fri, 15 Jun 2018 06:21:33 GMT<", ">Fri, 15 Jun 2018 06:26:41 GMT<",
                        #"<N:Win32LastModifiedTime xmlns:N="urn:schemas-microsoft-com:">\#(time)<"#,
                        ">00000020<", "<D:getlastmodified>\(time)<", "<D:lastmodified>\(seconds)<",
                    ], lacks: ["HTTP/1.1 404"]),
                step("MKCOL /d", [], nil, 201),
                step("PROPPATCH /d", [], set(explorer), 207, holds: ["200 OK"]),
                step(
                    "PROPFIND /d", [("Depth", "0")], ask(askExplorer), 207,
                    holds: [">00000020<", "<D:getlastmodified>\(time)<"], lacks: ["HTTP/1.1 404"]),
                step(
                    "PROPPATCH /", [], set(explorer), 207, holds: ["200 OK"],
                    lacks: ["HTTP/1.1 403", "HTTP/1.1 409"]),
                step(
                    "PROPFIND /", [("Depth", "0")], ask("<D:getlastmodified/>"), 207, holds: [">\(time)<"]),
            ]),
        Scenario(
            "A later PUT sets a new time in all properties",
            [
                step("PUT /a", [], "x", 201), step("PROPPATCH /a", [], set(explorer), 207),
                step("PUT /a", [], "y", 204),
                step(
                    "PROPFIND /a", [("Depth", "0")], ask(askExplorer), 207,
                    holds: [">00000020<", "Win32LastModifiedTime"], lacks: [time, seconds]),
                step("PROPFIND /a", [("Depth", "0")], nil, 207, lacks: [time]),
            ]),
        Scenario(
            "allprop contains the modification time only once",
            [
                step("PUT /a", [], "x", 201), step("PROPPATCH /a", [], set(explorer), 207),
                step(
                    "PROPFIND /a", [("Depth", "0")], nil, 207, holds: ["Win32CreationTime", time],
                    lacks: ["Win32LastModifiedTime", "<D:lastmodified>"]),
            ]),
        Scenario(
            "COPY sets a new time (RFC 4918 §15.7), MOVE preserves it",
            [
                step("PUT /a", [], "x", 201), step("PROPPATCH /a", [], set(explorer), 207),
                step("COPY /a", [("Destination", "/b")], nil, 201),
                step(
                    "PROPFIND /b", [("Depth", "0")], ask(askExplorer), 207, holds: [">00000020<"],
                    lacks: [time]),
                step("MOVE /a", [("Destination", "/c")], nil, 201),
                step(
                    "PROPFIND /c", [("Depth", "0")], ask(askExplorer), 207,
                    holds: [">00000020<", ">\(time)<"]),
            ]),
        Scenario(
            "The last instruction applies, and all three date formats of HTTP are accepted",
            [
                step("PUT /a", [], "x", 201),
                step(
                    "PROPPATCH /a", [],
                    set(
                        "<D:lastmodified>5</D:lastmodified><D:getlastmodified> \(time)\n</D:getlastmodified>"),
                    207, holds: ["200 OK"]),
                step("PROPFIND /a", [("Depth", "0")], ask("<D:lastmodified/>"), 207, holds: [">\(seconds)<"]),
                step(
                    "PROPPATCH /a", [],
                    set("<D:getlastmodified>Sunday, 06-Nov-94 08:49:37 GMT</D:getlastmodified>"), 207),
                step("PROPFIND /a", [("Depth", "0")], ask("<D:lastmodified/>"), 207, holds: [">784111777<"]),
                step(
                    "PROPPATCH /a", [],
                    set("<D:getlastmodified>Sun Nov  6 08:49:38 1994</D:getlastmodified>"), 207),
                step("PROPFIND /a", [("Depth", "0")], ask("<D:lastmodified/>"), 207, holds: [">784111778<"]),
            ]),
        Scenario(
            "Setting the same second again changes nothing, not even the entity tag",
            [
                step("PUT /a", [], "x", 201), step("PROPPATCH /a", [], set(explorer), 207),
                step("HEAD /a", [], nil, 200),
                step("PROPPATCH /a", [], set(explorer), 207, holds: ["200 OK"]),
                step("GET /a", [("If-None-Match", "$e")], nil, 304),
            ]),
        Scenario(
            "LOCK, UNLOCK and dead properties change neither the entity tag nor the time",
            [
                step("PUT /a", [], "x", 201), step("PROPPATCH /a", [], set(explorer), 207),
                step("HEAD /a", [], nil, 200), lock("/a", depth: "0"),
                step("PROPPATCH /a", [("If", "(<$1>)")], setProperty("p", "1"), 207),
                step("UNLOCK /a", [("Lock-Token", "<$1>")], nil, 204),
                step("GET /a", [("If-None-Match", "$e")], nil, 304),
                step("PROPFIND /a", [("Depth", "0")], ask("<D:getlastmodified/>"), 207, holds: [">\(time)<"]),
            ]),
        Scenario(
            "The null time of Windows does not change the time",
            [
                step("PUT /a", [], "x", 201), step("PROPPATCH /a", [], set(explorer), 207),
                step(
                    "PROPPATCH /a", [],
                    set(
                        "<Z:Win32LastModifiedTime>Mon, 01 Jan 1601 00:00:00 GMT</Z:Win32LastModifiedTime>"),
                    207, holds: ["200 OK"]),
                step("PROPFIND /a", [("Depth", "0")], ask("<D:getlastmodified/>"), 207, holds: [">\(time)<"]),
            ]),
        Scenario(
            "Unset Microsoft properties are missing, which is not an error",
            [
                step("PUT /a", [], "x", 201),
                step(
                    "PROPFIND /a", [("Depth", "0")],
                    ask("<Z:Win32FileAttributes/><Z:isroot/><D:contentclass/>"),
                    207, holds: ["404 Not Found", "<D:contentclass/>"], lacks: ["200 OK"]),
            ]),
    ]

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(_ scenario: Scenario) async throws {
        try await TestShare.play(scenario)
    }

    static let refused: [(element: String, status: String)] = [
        ("<Z:Win32LastModifiedTime>yesterday</Z:Win32LastModifiedTime>", "409 Conflict"),
        ("<Z:Win32LastModifiedTime/>", "409 Conflict"),
        ("<Z:Win32LastModifiedTime>2018-06-04T10:11:12Z</Z:Win32LastModifiedTime>", "409 Conflict"),
        ("<Z:Win32LastModifiedTime>Thu, 31 Feb 2018 10:11:12 GMT</Z:Win32LastModifiedTime>", "409 Conflict"),
        ("<Z:Win32LastModifiedTime>Fri, 31 Dec 9999 23:59:59 GMT</Z:Win32LastModifiedTime>", "409 Conflict"),
        ("<Z:Win32CreationTime>now</Z:Win32CreationTime>", "409 Conflict"),
        ("<Z:Win32LastAccessTime></Z:Win32LastAccessTime>", "409 Conflict"),
        ("<Z:Win32FileAttributes>hidden</Z:Win32FileAttributes>", "409 Conflict"),
        ("<Z:Win32FileAttributes>000000020</Z:Win32FileAttributes>", "409 Conflict"),
        ("<Z:Win32FileAttributes>-1</Z:Win32FileAttributes>", "409 Conflict"),
        ("<Z:Win32FileAttributes>+1</Z:Win32FileAttributes>", "409 Conflict"),
        ("<Z:Win32FileAttributes/>", "409 Conflict"),
        ("<D:getlastmodified>soon</D:getlastmodified>", "409 Conflict"),
        ("<D:getlastmodified>Mon, 01 Jan 1601 00:00:00 GMT</D:getlastmodified>", "409 Conflict"),
        ("<D:lastmodified>now</D:lastmodified>", "409 Conflict"),
        ("<D:lastmodified>1.5.2</D:lastmodified>", "409 Conflict"),
        ("<D:lastmodified>99999999999999999999</D:lastmodified>", "409 Conflict"),
        ("<D:lastmodified>9223372036854775807</D:lastmodified>", "409 Conflict"),
        ("<D:lastmodified>-9223372036854775808</D:lastmodified>", "409 Conflict"),
        ("<A:executable>yes</A:executable>", "409 Conflict"),
        ("<D:creationdate>2018-06-04T10:11:12Z</D:creationdate>", "403 Forbidden"),
        ("<D:displayname>a<x:b/></D:displayname>", "409 Conflict"),
        ("<D:getcontentlanguage>not a tag</D:getcontentlanguage>", "409 Conflict"),
        ("<D:getcontentlanguage>en&#13;&#10;Set-Cookie: a</D:getcontentlanguage>", "409 Conflict"),
        ("<D:getcontentlanguage>en<x:b/></D:getcontentlanguage>", "409 Conflict"),
        ("<D:getetag>\"x\"</D:getetag>", "403 Forbidden"),
        ("<D:current-user-principal/>", "403 Forbidden"),
    ]

    /// RFC 4918 §9.2.1: the status is inside the multistatus, and nothing is changed.
    @Test(arguments: refused)
    func refusedValuesAreReportedInTheMultistatus(_ row: (element: String, status: String)) async throws {
        try await TestShare.play(
            Scenario(
                "RFC 4918 §9.2: \(row.element)",
                [
                    step("PUT /a", [], "x", 201), step("PROPPATCH /a", [], setProperty("p", "one"), 207),
                    step("HEAD /a", [], nil, 200),
                    step(
                        "PROPPATCH /a", [],
                        Self.set(
                            "<x:p>two</x:p><D:lastmodified>7</D:lastmodified>\(row.element)",
                            remove: "<x:q/>"), 207,
                        holds: [
                            "HTTP/1.1 \(row.status)", "424 Failed Dependency", #"<N:p xmlns:N="urn:x"/>"#,
                        ],
                        lacks: ["200 OK"]),
                    step("PROPFIND /a", [("Depth", "0")], askProperty("p"), 207, holds: [">one<"]),
                    step("GET /a", [("If-None-Match", "$e")], nil, 304),
                ]))
    }

    @Test(arguments: ["<D:getlastmodified/>", "<D:lastmodified/>", "<Z:Win32LastModifiedTime/>"])
    func timesCannotBeRemoved(_ element: String) async throws {
        try await TestShare.play(
            Scenario(
                "RFC 4918 §15",
                [
                    step("PUT /a", [], "x", 201),
                    step(
                        "PROPPATCH /a", [], Self.set("<x:p>1</x:p>", remove: element), 207,
                        holds: ["403 Forbidden", "cannot-modify-protected-property"], lacks: ["200 OK"]),
                ]))
    }

    /// If the file system refuses a change, because another user owns the file or the disk is full, the
    /// response reports the error, and the properties are unchanged.
    @Test func refusedTimesAreForbiddenAndChangeNothing() async throws {
        let share = try TestShare()
        try await share.play(
            Scenario(
                "before",
                [step("PUT /a", [], "x", 201), step("PROPPATCH /a", [], setProperty("p", "one"), 207)]))
        share.resources.watch { $0 == .setAttributes ? .forbidden : nil }
        try await share.play(
            Scenario(
                "RFC 4918 §9.2",
                [
                    step(
                        "PROPPATCH /a", [], Self.set("<x:p>two</x:p><D:lastmodified>7</D:lastmodified>"), 207,
                        holds: [
                            "<D:lastmodified/></D:prop><D:status>HTTP/1.1 403", "424 Failed Dependency",
                        ], lacks: ["200 OK", "protected"]),
                    step("PROPFIND /a", [("Depth", "0")], askProperty("p"), 207, holds: [">one<"]),
                ]))
        share.resources.watch { $0 == .setAttributes ? .outOfSpace : nil }
        try await share.play(
            Scenario(
                "RFC 4918 §9.2",
                [
                    step(
                        "PROPPATCH /a", [], Self.set("<x:p>two</x:p><D:lastmodified>7</D:lastmodified>"), 507),
                    step("PROPFIND /a", [("Depth", "0")], askProperty("p"), 207, holds: [">one<"]),
                ]))
        #expect(try share.state.intents().isEmpty)
    }

    /// If the server crashes after storing the rows and before setting the time, the next start sets the
    /// time.
    @Test(arguments: [true, false])
    func interruptedTimeIsSetAtTheNextStart(isSameResource: Bool) async throws {
        let share = try TestShare()
        _ = try await share.client.send("PUT", "/a", text: "x")
        let path = try #require(ResourcePath(segments: [Array("a".utf8)]))
        let identity = try #require(try share.resources.identity(at: path))
        let intent = RenameIntent(
            id: 1, source: path, destination: path, moved: identity, replaced: nil, isCopy: false,
            attributes: ResourceAttributes(modified: Timestamp(seconds: 1_528_107_072)))
        try share.state.commit([.putIntent(intent)])
        if !isSameResource { #expect(share.shell("echo other > b; mv b a") == 0) }
        try share.share.recovery.recover()
        #expect(try share.state.intents().isEmpty)
        let modified = try await share.client.send("HEAD", "/a")["Last-Modified"]
        #expect((modified == Self.time) == isSameResource)
    }

    /// If the server crashes after setting the time, the next start does not set it again, and the entity tag
    /// is unchanged.
    @Test func completedTimeIsNotSetAgain() async throws {
        let share = try TestShare()
        _ = try await share.client.send("PUT", "/a", text: "x")
        let path = try #require(ResourcePath(segments: [Array("a".utf8)]))
        let time = ResourceAttributes(modified: Timestamp(seconds: 1_528_107_072))
        try share.resources.setAttributes(time, at: path)
        let before = try await share.client.send("HEAD", "/a")["ETag"]
        let identity = try #require(try share.resources.identity(at: path))
        let intent = RenameIntent(
            id: 1, source: path, destination: path, moved: identity, replaced: nil, isCopy: false,
            attributes: time)
        try share.state.commit([.putIntent(intent)])
        try share.share.recovery.recover()
        #expect(try share.state.intents().isEmpty)
        #expect(try await share.client.send("HEAD", "/a")["ETag"] == before)
    }
}
