import DavitWebDAV
import Testing

struct PropFindBodyTests {
    @Test func emptyBodyRequestsAllProperties() throws {
        // RFC 4918 §9.1.
        #expect(try PropFindBody.parse([]) == .allprop(include: []))
    }

    static let x = PropertyName(namespace: "urn:x", local: "p")

    static let wellFormed: [(String, PropFindBody)] = [
        ("<D:propfind xmlns:D='DAV:'><D:allprop/></D:propfind>", .allprop(include: [])),
        ("<D:propfind xmlns:D='DAV:'><D:propname/></D:propfind>", .propname),
        (
            "<propfind xmlns='DAV:'><prop><getetag/><p xmlns='urn:x'/></prop></propfind>",
            .prop([.dav("getetag"), x])
        ),
        ("<DAV:propfind xmlns:DAV='DAV:'><DAV:prop/></DAV:propfind>", .prop([])),
        // A name without a namespace, as webdav4 and litmus send it.
        (
            "<propfind xmlns='DAV:'><prop><p xmlns=''/></prop></propfind>",
            .prop([PropertyName(namespace: "", local: "p")])
        ),
        // RFC 4918 §9.1.
        (
            "<D:propfind xmlns:D='DAV:'><D:allprop/><D:include><D:lockdiscovery/><p xmlns='urn:x'/></D:include>"
                + "</D:propfind>", .allprop(include: [.dav("lockdiscovery"), x])
        ),
        (
            "<D:propfind xmlns:D='DAV:'><D:include><D:a/></D:include><D:allprop/></D:propfind>",
            .allprop(include: [.dav("a")])
        ),
        // Each name is returned once, in the order of first occurrence; names are compared exactly.
        (
            "<propfind xmlns='DAV:'><prop><a/><b/><a/><B/><p xmlns='urn:x'/><q:p xmlns:q='urn:x'/></prop></propfind>",
            .prop([.dav("a"), .dav("b"), .dav("B"), x])
        ),
        // §17: unknown elements and attributes, text and comments are ignored.
        (
            "<propfind xmlns='DAV:' a='b'>\n<!--c--><x xmlns='urn:x'><allprop/></x><prop>text<a>text</a></prop><leave-out/>"
                + "</propfind>", .prop([.dav("a")])
        ),
        ("<propfind xmlns='DAV:'><prop xmlns='urn:x'/><propname/></propfind>", .propname),
    ]

    @Test(arguments: wellFormed)
    func requestedPropertiesAreParsed(body: String, requested: PropFindBody) throws {
        #expect(try PropFindBody.parse(Array(body.utf8)) == requested)
    }

    static let refused: [(String, BodyError)] = [
        // litmus propfind_invalid and propfind_invalid2.
        ("<foo>", .malformed(line: 1)),
        (
            "<D:propfind xmlns:D='DAV:'><D:prop><bar:foo xmlns:bar=''/></D:prop></D:propfind>",
            .malformed(line: 1)
        ),
        (" ", .malformed(line: 1)),
        // §14.20: exactly one of the alternatives.
        ("<propfind xmlns='DAV:'/>", .malformed(line: 1)),
        ("<propfind xmlns='DAV:'>\n<x/></propfind>", .malformed(line: 1)),
        ("<propfind xmlns='DAV:'><allprop/><propname/></propfind>", .malformed(line: 1)),
        ("<propfind xmlns='DAV:'><prop/>\n<prop/></propfind>", .malformed(line: 2)),
        ("<propfind xmlns='DAV:'><prop/><allprop/></propfind>", .malformed(line: 1)),
        ("<propfind xmlns='DAV:'><prop/><include/></propfind>", .malformed(line: 1)),
        ("<propfind xmlns='DAV:'><propname/><include/></propfind>", .malformed(line: 1)),
        ("<propfind xmlns='DAV:'><include/></propfind>", .malformed(line: 1)),
        ("<propfind><allprop/></propfind>", .notThis(line: 1)),
        ("<propfind xmlns='dav:'><allprop/></propfind>", .notThis(line: 1)),
        ("\n<propertyupdate xmlns='DAV:'/>", .notThis(line: 2)),
        ("<!DOCTYPE a SYSTEM 'b'><propfind xmlns='DAV:'><allprop/></propfind>", .externalEntity(line: 1)),
        ("<!DOCTYPE a><propfind xmlns='DAV:'><allprop/></propfind>", .malformed(line: 1)),
    ]

    @Test(arguments: refused)
    func invalidBodiesAreRefused(body: String, error: BodyError) {
        #expect(throws: error) { try PropFindBody.parse(Array(body.utf8)) }
    }

    @Test func namesAreLimited() throws {
        func body(_ count: Int) -> [UInt8] {
            let names = (0..<count).map { "<p\($0)/>" }.joined()
            return Array("<propfind xmlns='DAV:'><prop>\(names)<p0/></prop></propfind>".utf8)
        }
        #expect(try PropFindBody.parse(body(1024)) == .prop((0..<1024).map { .dav("p\($0)") }))
        #expect(throws: BodyError.malformed(line: 1)) { try PropFindBody.parse(body(1025)) }
    }
}
