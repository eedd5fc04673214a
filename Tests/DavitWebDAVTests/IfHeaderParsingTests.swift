import DavitHTTP
import DavitWebDAV
import Testing

struct IfHeaderParsingTests {
    typealias Condition = IfHeader.Condition

    static func tag(_ opaque: String, isWeak: Bool = false, isNegated: Bool = false) -> Condition {
        Condition(.entityTag(EntityTag(opaque: Array(opaque.utf8), isWeak: isWeak)), isNegated: isNegated)
    }

    static func token(_ uri: String, isNegated: Bool = false) -> Condition {
        Condition(.stateToken(uri), isNegated: isNegated)
    }

    static let wellFormed: [(String, [IfHeader.List])] = [
        // RFC 4918 §10.4.6, a No-tag-list.
        (
            "(<urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2> [\"I am an ETag\"]) ([\"I am another ETag\"])",
            [
                .init([token("urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2"), tag("I am an ETag")]),
                .init([tag("I am another ETag")]),
            ]
        ),
        // §10.4.7, Not.
        ("(Not <urn:a> <urn:b>)", [.init([token("urn:a", isNegated: true), token("urn:b")])]),
        ("(not<urn:a>NOT[\"b\"])", [.init([token("urn:a", isNegated: true), tag("b", isNegated: true)])]),
        // §10.4.8, the token that never matches.
        (
            "(<urn:a>)(Not <DAV:no-lock>)",
            [.init([token("urn:a")]), .init([token("DAV:no-lock", isNegated: true)])]
        ),
        // §10.4.9, a Tagged-list.
        (
            "</resource1> (<urn:a> [W/\"A weak\"]) ([\"strong\"])",
            [
                .init(resourceTag: "/resource1", [token("urn:a"), tag("A weak", isWeak: true)]),
                .init(resourceTag: "/resource1", [tag("strong")]),
            ]
        ),
        // §10.4.10, tags of several resources.
        (
            "<http://example.com/a/> (<urn:a>)<http://example.com/b> (<urn:b>)",
            [
                .init(resourceTag: "http://example.com/a/", [token("urn:a")]),
                .init(resourceTag: "http://example.com/b", [token("urn:b")]),
            ]
        ),
        // RFC 9110 §8.8.3: a tag may contain brackets and bytes outside ASCII, and may be empty.
        ("([\"a]b[\"])", [.init([tag("a]b[")])]),
        ("([\"\"])", [.init([tag("")])]),
        ("([\"\u{E9}\"])", [.init([tag("\u{E9}")])]),
        // Optional whitespace.
        ("\t( <urn:a>\t[ \"b\" ] ) ", [.init([token("urn:a"), tag("b")])]),
        ("</\u{E9}>(<urn:a>)", [.init(resourceTag: "/\u{E9}", [token("urn:a")])]),
    ]

    @Test(arguments: wellFormed)
    func wellFormedFieldsAreParsed(field: String, lists: [IfHeader.List]) throws {
        #expect(try IfHeader(parsing: Array(field.utf8).span).lists == lists)
    }

    static let malformed: [(String, IfHeader.ParseError)] = [
        ("", .empty(offset: 0)),
        ("  ", .empty(offset: 2)),
        ("()", .empty(offset: 0)),
        ("(<urn:a>) ( )", .empty(offset: 10)),
        ("(<>)", .empty(offset: 1)),
        ("<> (<urn:a>)", .empty(offset: 0)),
        ("(<urn:a>", .unterminated(opening: UInt8(ascii: "("), offset: 0)),
        ("(<urn:a", .unterminated(opening: UInt8(ascii: "<"), offset: 1)),
        ("(<urn:a>)(", .unterminated(opening: UInt8(ascii: "("), offset: 9)),
        ("([", .unterminated(opening: UInt8(ascii: "["), offset: 1)),
        ("([W", .unterminated(opening: UInt8(ascii: "["), offset: 1)),
        ("([\"a", .unterminated(opening: UInt8(ascii: "\""), offset: 2)),
        ("([\"a\"", .unterminated(opening: UInt8(ascii: "["), offset: 1)),
        ("([a])", .unexpectedByte(UInt8(ascii: "a"), offset: 2)),
        ("([w/\"a\"])", .unexpectedByte(UInt8(ascii: "w"), offset: 2)),
        ("([W\"a\"])", .unexpectedByte(UInt8(ascii: "\""), offset: 3)),
        ("([\"a\"b])", .unexpectedByte(UInt8(ascii: "b"), offset: 5)),
        ("([\"a\u{1}\"])", .unexpectedByte(1, offset: 4)),
        ("([\"a\u{7F}\"])", .unexpectedByte(0x7F, offset: 4)),
        ("(Not)", .unexpectedByte(UInt8(ascii: ")"), offset: 4)),
        ("(Not Not <urn:a>)", .unexpectedByte(UInt8(ascii: "N"), offset: 5)),
        ("(No", .empty(offset: 3)),
        ("(Nor <urn:a>)", .unexpectedByte(UInt8(ascii: "r"), offset: 3)),
        ("(urn:a)", .unexpectedByte(UInt8(ascii: "u"), offset: 1)),
        ("(<urn:a b>)", .unexpectedByte(UInt8(ascii: " "), offset: 7)),
        ("(<urn:<a>)", .unexpectedByte(UInt8(ascii: "<"), offset: 6)),
        ("(<urn:a>))", .unexpectedByte(UInt8(ascii: ")"), offset: 9)),
        ("(<urn:a>),(<urn:b>)", .unexpectedByte(UInt8(ascii: ","), offset: 9)),
        ("<urn:a>", .empty(offset: 7)),
        ("</a> </b> (<urn:c>)", .unexpectedByte(UInt8(ascii: "<"), offset: 5)),
        ("</a> (<urn:c>) </b>", .empty(offset: 19)),
        // No-tag-lists and Tagged-lists cannot be mixed.
        ("(<urn:a>) </b> (<urn:c>)", .unexpectedByte(UInt8(ascii: "<"), offset: 10)),
        ("*", .unexpectedByte(UInt8(ascii: "*"), offset: 0)),
        ("\"a\"", .unexpectedByte(UInt8(ascii: "\""), offset: 0)),
    ]

    @Test(arguments: malformed)
    func errorReportsTheByteOffset(field: String, error: IfHeader.ParseError) {
        #expect(throws: error) { try IfHeader(parsing: Array(field.utf8).span) }
    }

    @Test func mutatedFieldsNeverTrap() {
        let field = Array("</a> (Not <urn:a> [W/\"b\"]) ([\"c\"]) <http://d/> (<urn:e>)".utf8)
        for length in 0..<field.count {
            check(Array(field[..<length]), isTruncated: true)
        }
        for offset in field.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = field
                changed[offset] = byte
                check(changed)
            }
        }
    }

    /// An accepted field has at least one list and no list without conditions; an error has the offset of the
    /// invalid byte.
    func check(_ field: [UInt8], isTruncated: Bool = false) {
        do throws(IfHeader.ParseError) {
            let header = try IfHeader(parsing: field.span)
            #expect(!header.lists.isEmpty && header.lists.allSatisfy { !$0.conditions.isEmpty })
        } catch {
            switch error {
            case .unexpectedByte(let byte, let offset): #expect(field[offset] == byte && !isTruncated)
            case .unterminated(let opening, let offset): #expect(field[offset] == opening)
            case .empty(let offset): #expect((0...field.count).contains(offset))
            }
        }
    }
}
