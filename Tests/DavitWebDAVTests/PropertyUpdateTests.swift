import DavitWebDAV
import Testing

struct PropertyUpdateTests {
    static func set(_ name: PropertyName, _ element: String) -> PropertyUpdate.Instruction {
        .set(name, PropertyValue(element: Array(element.utf8)))
    }

    static let x = PropertyName(namespace: "urn:x", local: "p")
    static let none = PropertyName(namespace: "", local: "p")

    static func update(_ inside: String) -> String {
        "<D:propertyupdate xmlns:D='DAV:'>\(inside)</D:propertyupdate>"
    }

    static let wellFormed: [(String, [PropertyUpdate.Instruction])] = [
        (
            update("<D:set><D:prop><p xmlns='urn:x'>1</p></D:prop></D:set>"),
            [set(x, "<p xmlns=\"urn:x\">1</p>")]
        ),
        (update("<D:remove><D:prop><p xmlns='urn:x'>1</p></D:prop></D:remove>"), [.remove(x)]),
        // RFC 4918 §9.2: document order, including repeated names.
        (
            update(
                "<D:remove><D:prop><p/></D:prop></D:remove><D:set><D:prop><p>1</p><q:p xmlns:q='urn:x'/></D:prop>"
                    + "</D:set><D:set><D:prop><p>2</p></D:prop></D:set><D:remove><D:prop><p/></D:prop></D:remove>"
            ),
            [
                .remove(none), set(none, "<p xmlns=\"\">1</p>"), set(x, "<q:p xmlns:q=\"urn:x\"/>"),
                set(none, "<p xmlns=\"\">2</p>"), .remove(none),
            ]
        ),
        // §4.3: the language in scope can come from any ancestor.
        (
            "<D:propertyupdate xmlns:D='DAV:' xml:lang='en'><D:set><D:prop><p/></D:prop></D:set></D:propertyupdate>",
            [set(none, "<p xmlns=\"\" xml:lang=\"en\"/>")]
        ),
        (
            update("<D:set xml:lang='en'><D:prop><p/></D:prop></D:set>"),
            [set(none, "<p xmlns=\"\" xml:lang=\"en\"/>")]
        ),
        (
            update("<D:set xml:lang='en'><D:prop xml:lang='de'><p/><p xml:lang='fr'/></D:prop></D:set>"),
            [set(none, "<p xmlns=\"\" xml:lang=\"de\"/>"), set(none, "<p xmlns=\"\" xml:lang=\"fr\"/>")]
        ),
        // Updates as sent by Windows and rclone.
        (
            update(
                "<D:set><D:prop><Z:Win32FileAttributes xmlns:Z='urn:schemas-microsoft-com:'>00000020"
                    + "</Z:Win32FileAttributes></D:prop></D:set>"),
            [
                set(
                    PropertyName(namespace: "urn:schemas-microsoft-com:", local: "Win32FileAttributes"),
                    "<Z:Win32FileAttributes xmlns:Z=\"urn:schemas-microsoft-com:\">00000020"
                        + "</Z:Win32FileAttributes>")
            ]
        ),
        (
            update("<D:set><D:prop><D:lastmodified>1</D:lastmodified></D:prop></D:set>"),
            [set(.dav("lastmodified"), "<D:lastmodified xmlns:D=\"DAV:\">1</D:lastmodified>")]
        ),
        // §17: unknown elements are ignored.
        (
            update(
                "<x/><D:other><D:prop><D:a/></D:prop></D:other><D:remove>t<x/><D:prop><p/></D:prop></D:remove>"
            ),
            [.remove(none)]
        ),
        (update("<D:set><D:prop/></D:set><D:remove><D:prop><p/></D:prop></D:remove>"), [.remove(none)]),
    ]

    @Test(arguments: wellFormed)
    func instructionsAreParsed(body: String, instructions: [PropertyUpdate.Instruction]) throws {
        let parsed = try PropertyUpdate.parse(Array(body.utf8)).instructions
        #expect(parsed == instructions)
        #expect(parsed.map(\.name) == instructions.map(\.name))
    }

    static let refused: [(String, BodyError)] = [
        ("", .malformed(line: 1)),
        (update(""), .malformed(line: 1)),
        (update("<D:set/>"), .malformed(line: 1)),
        (update("<D:set><D:prop/></D:set>"), .malformed(line: 1)),
        (update("\n<D:remove><D:prop><p/></D:prop><D:prop><q/></D:prop></D:remove>"), .malformed(line: 2)),
        (update("<D:set><D:prop><p></D:prop></D:set>"), .malformed(line: 1)),
        ("<D:propfind xmlns:D='DAV:'><D:allprop/></D:propfind>", .notThis(line: 1)),
        ("<propertyupdate/>", .notThis(line: 1)),
        (
            "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>"
                + update("<D:set><D:prop><p>&e;</p></D:prop></D:set>"), .externalEntity(line: 1)
        ),
    ]

    @Test(arguments: refused)
    func invalidBodiesAreRefused(body: String, error: BodyError) {
        #expect(throws: error) { try PropertyUpdate.parse(Array(body.utf8)) }
    }

    @Test func totalSizeOfValuesIsLimited() throws {
        var limits = BodyLimits()
        limits.valueBytes = 100
        let name = String(repeating: "n", count: 40)
        // The namespace is declared once in the request, but repeated in each stored value.
        let body = { (count: Int) in
            let values = String(repeating: "<n:p/>", count: count)
            return Array(
                Self.update("<D:set xmlns:n='\(name)'><D:prop>\(values)</D:prop></D:set>").utf8)
        }
        #expect(try PropertyUpdate.parse(body(1), limits: limits).instructions.count == 1)
        #expect(throws: BodyError.malformed(line: 1)) { try PropertyUpdate.parse(body(2), limits: limits) }
        #expect(throws: BodyError.malformed(line: 1)) { try PropertyUpdate.parse(body(1025)) }
    }

    @Test func textOfAValueIsReturned() throws {
        let update = try PropertyUpdate.parse(
            Array(Self.update("<D:set><D:prop><D:a>T&amp;<b>F</b><!--c--></D:a></D:prop></D:set>").utf8))
        guard case .set(_, let value) = update.instructions.first else {
            Issue.record("the instruction is not a set")
            return
        }
        #expect(value.trimmedText == "T&F")
        #expect(PropertyValue(element: Array("<a".utf8)).trimmedText == "")
    }

    @Test func valuesAreLimitedToTheByte() throws {
        let body = Array(
            Self.update("<D:set><D:prop><p xmlns='urn:x'>1</p><q xmlns='urn:x'>23</q></D:prop></D:set>").utf8)
        let bytes = #"<p xmlns="urn:x">1</p><q xmlns="urn:x">23</q>"#.utf8.count
        var limits = BodyLimits()
        limits.valueBytes = bytes
        #expect(try PropertyUpdate.parse(body, limits: limits).instructions.count == 2)
        limits.valueBytes = bytes - 1
        #expect(throws: BodyError.malformed(line: 1)) { try PropertyUpdate.parse(body, limits: limits) }
    }
}
