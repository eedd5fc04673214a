import DavitHTTP
import DavitWebDAV
import DavitXML
import Testing

struct MultistatusWriterTests {
    static let start = #"<?xml version="1.0" encoding="utf-8"?><D:multistatus xmlns:D="DAV:">"#
    static let end = "</D:multistatus>"

    /// Returns the content of the multistatus element, after checking that the document can be parsed.
    static func inside(_ write: (MultistatusWriter) -> Void) throws -> String {
        let writer = MultistatusWriter()
        writer.begin()
        write(writer)
        writer.end()
        #expect(writer.count > 0)
        let body = writer.drain()
        #expect(writer.count == 0)
        #expect(try XMLDocument.parse(body).root.isNamed("multistatus", in: "DAV:"))
        let text = String(decoding: body, as: UTF8.self)
        #expect(text.hasPrefix(start) && text.hasSuffix(end))
        return String(text.dropFirst(start.count).dropLast(end.count))
    }

    /// Returns the content of the prop element of a single propstat with status 200.
    static func property(_ write: (MultistatusWriter) -> Void) throws -> String {
        let text = try inside { writer in
            writer.beginResponse(href: Array("/a".utf8))
            writer.beginPropStat()
            write(writer)
            writer.endPropStat(status: .ok)
            writer.endResponse()
        }
        let before = "<D:response><D:href>/a</D:href><D:propstat><D:prop>"
        let after = "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
        #expect(text.hasPrefix(before) && text.hasSuffix(after))
        return String(text.dropFirst(before.count).dropLast(after.count))
    }

    @Test func multistatusFollowsTheGrammar() throws {
        // RFC 4918 §9.1.3, §14.16 and §14.24.
        let text = try Self.inside { writer in
            writer.beginResponse(href: Array("/a".utf8), isCollection: true)
            writer.beginPropStat()
            writer.property("resourcetype", markup: "<D:collection/>")
            writer.property("getcontentlength", number: 10)
            writer.endPropStat(status: .ok)
            writer.beginPropStat()
            writer.emptyProperty("getetag")
            writer.endPropStat(status: .notFound)
            writer.endResponse()
            writer.beginResponse(href: Array("/a/".utf8), member: Array("b".utf8), isCollection: false)
            writer.responseStatus(.locked)
            writer.endResponse(
                condition: .lockTokenSubmitted([Array("/a/b".utf8)]), description: "it's <locked>")
        }
        #expect(
            text == """
                <D:response><D:href>/a/</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype>\
                <D:getcontentlength>10</D:getcontentlength></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>\
                <D:propstat><D:prop><D:getetag/></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>\
                </D:response><D:response><D:href>/a/b</D:href><D:status>HTTP/1.1 423 Locked</D:status><D:error>\
                <D:lock-token-submitted><D:href>/a/b</D:href></D:lock-token-submitted></D:error>\
                <D:responsedescription>it's &lt;locked&gt;</D:responsedescription></D:response>
                """)
    }

    @Test func propertyErrorsHaveAStatusAndCondition() throws {
        // §9.2.1 and §9.2.2.
        let text = try Self.inside { writer in
            writer.beginResponse(href: Array("/a".utf8))
            writer.beginPropStat()
            writer.emptyProperty("getetag")
            writer.endPropStat(
                status: .forbidden, condition: .cannotModifyProtectedProperty, description: "no")
            writer.beginPropStat()
            writer.emptyProperty(PropertyName(namespace: "urn:x", local: "p"))
            writer.endPropStat(status: .failedDependency)
            writer.endResponse()
        }
        #expect(
            text == """
                <D:response><D:href>/a</D:href><D:propstat><D:prop><D:getetag/></D:prop><D:status>HTTP/1.1 403 Forbidden\
                </D:status><D:error><D:cannot-modify-protected-property/></D:error><D:responsedescription>no\
                </D:responsedescription></D:propstat><D:propstat><D:prop><N:p xmlns:N="urn:x"/></D:prop>\
                <D:status>HTTP/1.1 424 Failed Dependency</D:status></D:propstat></D:response>
                """)
    }

    @Test func emptyPropStatsAreOmitted() throws {
        let text = try Self.inside { writer in
            writer.beginResponse(href: Array("/a".utf8))
            writer.beginPropStat()
            writer.endPropStat(status: .ok)
            writer.beginPropStat()
            writer.emptyProperty("getetag")
            writer.endPropStat(status: .notFound)
            writer.beginPropStat()
            writer.endPropStat(status: .forbidden, condition: .cannotModifyProtectedProperty)
            writer.endResponse()
        }
        #expect(
            text == """
                <D:response><D:href>/a</D:href><D:propstat><D:prop><D:getetag/></D:prop>\
                <D:status>HTTP/1.1 404 Not Found</D:status></D:propstat></D:response>
                """)
    }

    @Test func everyResponseHasAResult() throws {
        // §14.24: `(href, ((href*, status) | (propstat+)))`. An empty `prop` requests nothing.
        for begins in [false, true] {
            let text = try Self.inside { writer in
                writer.beginResponse(href: Array("/a".utf8))
                if begins {
                    writer.beginPropStat()
                    writer.endPropStat(status: .ok)
                }
                writer.endResponse()
            }
            #expect(
                text == "<D:response><D:href>/a</D:href><D:status>HTTP/1.1 200 OK</D:status></D:response>")
        }
        #expect(try Self.inside { _ in } == "")
    }

    static let hrefs: [(String, isCollection: Bool, String)] = [
        ("/a", false, "/a"), ("/a", true, "/a/"), ("/a/", true, "/a/"), ("", false, ""), ("", true, "/"),
    ]

    @Test(arguments: hrefs)
    func hrefsOfCollectionsEndInASlash(href: String, isCollection: Bool, written: String) throws {
        let text = try Self.inside { writer in
            writer.beginResponse(href: Array(href.utf8), isCollection: isCollection)
            writer.endResponse()
        }
        #expect(text.hasPrefix("<D:response><D:href>\(written)</D:href>"))
    }

    static let memberHrefs: [(String, String, Bool, String)] = [
        ("/a/", "b", false, "/a/b"), ("/a/", "b", true, "/a/b/"),
        ("/Cafe%CC%81/", "&+ <%41", false, "/Cafe%CC%81/%26%2B%20%3C%2541"),
        (
            "/", String(repeating: "\u{FF}", count: 255), true,
            "/" + String(repeating: "%C3%BF", count: 255) + "/"
        ),
    ]

    @Test(arguments: memberHrefs)
    func hrefsOfMembersAreJoinedAndEncoded(base: String, member: String, isCollection: Bool, href: String)
        throws
    {
        let text = try Self.inside { writer in
            writer.beginResponse(
                href: Array(base.utf8), member: Array(member.utf8), isCollection: isCollection)
            writer.endResponse()
        }
        #expect(text.hasPrefix("<D:response><D:href>\(href)</D:href>"))
    }

    static let names: [(PropertyName, String)] = [
        (.dav("getetag"), "<D:getetag/>"),
        (PropertyName(namespace: "", local: "p"), "<p xmlns=\"\"/>"),
        (PropertyName(namespace: "urn:x", local: "p"), "<N:p xmlns:N=\"urn:x\"/>"),
        (PropertyName(namespace: "DAV", local: "p"), "<N:p xmlns:N=\"DAV\"/>"),
        (PropertyName(namespace: "u?a&b\"'>", local: "p"), "<N:p xmlns:N=\"u?a&amp;b&quot;'&gt;\"/>"),
        (PropertyName(namespace: "urn:\u{E9}", local: "\u{E9}"), "<N:\u{E9} xmlns:N=\"urn:&#xE9;\"/>"),
        (PropertyName(namespace: "http://www.w3.org/XML/1998/namespace", local: "p"), "<xml:p/>"),
    ]

    @Test(arguments: names)
    func namesRoundTrip(name: PropertyName, element: String) throws {
        let body = "<D:propfind xmlns:D='DAV:'><D:prop>\(element)</D:prop></D:propfind>"
        #expect(try PropFindBody.parse(Array(body.utf8)) == .prop([name]))
        #expect(try Self.property { $0.emptyProperty(name) } == element)
        let written = try Self.property { $0.property(name, escaped: Array("<T>".utf8)) }
        let read = try XMLDocument.parse(Array("<D:x xmlns:D='DAV:'>\(written)</D:x>".utf8)).root.children[0]
        #expect(read.namespace == name.namespace && read.local == name.local && read.text == "<T>")
    }

    static let values: [(write: @Sendable (MultistatusWriter) -> Void, String)] = [
        ({ $0.property("getetag", bytes: Array("\"a\"".utf8)) }, "<D:getetag>\"a\"</D:getetag>"),
        (
            { $0.property("displayname", escaped: Array("a&b".utf8)) },
            "<D:displayname>a&amp;b</D:displayname>"
        ),
        ({ $0.property("displayname", escaped: Array("a".utf8)) }, "<D:displayname>a</D:displayname>"),
        (
            { $0.property("displayname", escaped: [0x61, 0xFF, 1]) },
            "<D:displayname>a\u{FFFD}\u{FFFD}</D:displayname>"
        ),
        ({ $0.property("displayname", escaped: []) }, "<D:displayname></D:displayname>"),
        (
            { $0.property("quota-used-bytes", number: .max) },
            "<D:quota-used-bytes>9223372036854775807</D:quota-used-bytes>"
        ),
        (
            { $0.deadProperty(PropertyValue(element: Array("<p xmlns=\"\">x</p>".utf8))) },
            "<p xmlns=\"\">x</p>"
        ),
        ({ $0.lockDiscovery([]) }, "<D:lockdiscovery/>"),
        (
            { $0.supportedLock() },
            """
            <D:supportedlock><D:lockentry><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>\
            </D:lockentry><D:lockentry><D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype>\
            </D:lockentry></D:supportedlock>
            """
        ),
    ]

    @Test(arguments: values)
    func valuesAreWritten(write: @Sendable (MultistatusWriter) -> Void, element: String) throws {
        #expect(try Self.property(write) == element)
    }

    @Test(arguments: names)
    func renderedNameEqualsTheWrittenOne(name: PropertyName, element: String) throws {
        let rendered = EmptyPropertyElement(name)
        #expect(try Self.property { $0.emptyProperty(rendered) } == element)
        #expect(try Self.property { $0.emptyProperty(name) } == element)
    }

    @Test(arguments: [100, 207, 299, 404, 423, 424, 499, 507, 599])
    func everyStatusLineHasAReason(code: UInt16) throws {
        let text = try Self.inside { writer in
            writer.beginResponse(href: Array("/".utf8))
            writer.responseStatus(HTTPStatus(code))
            writer.endResponse()
        }
        let line = "<D:status>HTTP/1.1 \(code) \(HTTPStatus(code).reasonPhrase)</D:status>"
        #expect(text.contains(line) && !HTTPStatus(code).reasonPhrase.description.isEmpty)
    }

    @Test(arguments: [64, 1000, 32_768])
    func outputCanBeTakenWhileItIsWritten(capacity: Int) throws {
        let writer = MultistatusWriter()
        let buffer = IOBuffer(capacity: capacity)
        var body: [UInt8] = []
        func take() -> Int {
            buffer.removeAll()
            let count = writer.take(into: buffer)
            unsafe buffer.withBytes { unsafe body.append(contentsOf: $0) }
            #expect(count == buffer.count)
            return count
        }
        writer.begin()
        for number in 0..<500 {
            writer.beginResponse(
                href: Array("/a/".utf8), member: Array("\(number)".utf8), isCollection: false)
            writer.beginPropStat()
            writer.property("displayname", escaped: Array("<\(number)>".utf8))
            writer.endPropStat(status: .ok)
            writer.endResponse()
            while writer.count >= capacity { #expect(take() == capacity) }
        }
        writer.end(description: "done")
        while take() > 0 {}
        let root = try XMLDocument.parse(body).root
        let names = root.children.compactMap { $0.children.last?.children.first?.children.first?.text }
        #expect(names == (0..<500).map { "<\($0)>" })
        #expect(root.children.last?.text == "done")
    }

    @Test func valueRoundTripsUnchanged() throws {
        let body = """
            <?xml version="1.0"?><d:propertyupdate xmlns:d="DAV:" xmlns:q="urn:q" xml:lang="en"><d:set><d:prop>\
            <q:p a='"'>x &lt;<!-- c --><q:r>d:e</q:r><![CDATA[<]]> <?f g?></q:p></d:prop></d:set></d:propertyupdate>
            """
        let update = try PropertyUpdate.parse(Array(body.utf8))
        guard case .set(let name, let value) = update.instructions.first else {
            Issue.record("the instruction is not a set")
            return
        }
        let written = try Self.property { $0.deadProperty(value) }
        #expect(
            written == """
                <q:p xmlns:q="urn:q" xmlns:d="DAV:" a="&quot;" xml:lang="en">x &lt;<!-- c --><q:r>d:e</q:r>\
                <![CDATA[<]]> <?f g?></q:p>
                """)
        #expect(name == PropertyName(namespace: "urn:q", local: "p"))
    }
}
