import DavitWebDAV
import Testing

/// RFC 5689 §5.1.
struct MkColBodyTests {
    static func body(_ inside: String) -> [UInt8] {
        Array("<D:mkcol xmlns:D='DAV:' xmlns:x='urn:x'>\(inside)</D:mkcol>".utf8)
    }

    static func set(_ inside: String) -> String { "<D:set><D:prop>\(inside)</D:prop></D:set>" }

    /// The properties to set, and whether the resource type is a plain collection.
    static let rows: [(inside: String, names: [PropertyName], isPlain: Bool)] = [
        ("", [], true), (set(""), [], true),
        (set("<D:resourcetype><D:collection/></D:resourcetype>"), [.dav("resourcetype")], true),
        (
            set("<D:resourcetype><D:collection/></D:resourcetype><x:p>1</x:p>") + set("<x:p>2</x:p>"),
            [.dav("resourcetype"), PropertyName(namespace: "urn:x", local: "p")], true
        ),
        (set("<D:resourcetype/>"), [.dav("resourcetype")], false),
        (set("<D:resourcetype><x:collection/></D:resourcetype>"), [.dav("resourcetype")], false),
        (set("<D:resourcetype><D:collection/><x:special/></D:resourcetype>"), [.dav("resourcetype")], false),
        (
            set("<D:resourcetype><D:collection/></D:resourcetype>") + set("<D:resourcetype/>"),
            [.dav("resourcetype")], false
        ),
        // RFC 4918 §17: unknown elements are ignored, and so are removals from a new collection.
        ("<x:what/><D:remove><D:prop><x:p/></D:prop></D:remove>", [], true),
    ]

    @Test(arguments: rows)
    func propertiesAreParsed(inside: String, names: [PropertyName], isPlain: Bool) throws {
        let parsed = try MkColBody.parse(Self.body(inside))
        #expect(parsed.properties.names == names)
        #expect(parsed.isPlainCollection == isPlain)
    }

    @Test func otherDocumentsAreRefused() {
        #expect(throws: BodyError.notThis(line: 1)) { try MkColBody.parse(Array("<x/>".utf8)) }
        #expect(throws: BodyError.malformed(line: 1)) { try MkColBody.parse(Self.body("<D:set/>")) }
        #expect(throws: BodyError.self) { try MkColBody.parse(Array("<D:mkcol".utf8)) }
    }
}
