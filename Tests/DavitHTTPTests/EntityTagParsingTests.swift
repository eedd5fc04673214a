import DavitHTTP
import Testing

struct EntityTagParsingTests {
    static func tag(_ opaque: String, isWeak: Bool = false) -> EntityTag {
        EntityTag(opaque: Array(opaque.utf8), isWeak: isWeak)
    }

    /// RFC 9110 §8.8.3.
    static let tags: [(text: String, tag: EntityTag?)] = [
        ("\"xyzzy\"", tag("xyzzy")), ("W/\"xyzzy\"", tag("xyzzy", isWeak: true)), ("\"\"", tag("")),
        ("\"a,b'\\!é\"", tag("a,b'\\!é")),
        ("w/\"a\"", nil), ("W\"a\"", nil), ("W/", nil), ("W", nil), ("", nil), ("a", nil), ("\"a", nil),
        ("a\"", nil), ("\"", nil), ("\"a b\"", nil), ("\"a\tb\"", nil), ("\"a\u{7F}\"", nil),
        ("\"a\"b", nil), ("\"a\" ", nil), ("\"a\"\"", nil), ("*", nil),
    ]

    @Test(arguments: tags)
    func singleTagsAreParsed(text: String, tag: EntityTag?) {
        #expect(EntityTag.parse(Array(text.utf8).span) == tag)
        if let tag { #expect(EntityTag.parse(tag.encoded.span) == tag) }
    }

    /// §13.1.1 with the list rules of §5.6.1.
    static let lists: [(text: String, list: EntityTagList?)] = [
        ("*", .any), ("\"a\"", .tags([tag("a")])),
        ("\"a\",W/\"b\"", .tags([tag("a"), tag("b", isWeak: true)])),
        (", \"a\" ,\t, \"b,c\",", .tags([tag("a"), tag("b,c")])),
        ("", nil), (",", nil), ("* ", nil), ("**", nil), ("*,\"a\"", nil), ("\"a\"*", nil),
        ("\"a\" \"b\"", nil), ("\"a\"\"b\"", nil), ("\"a\",b", nil), ("\"a\",\"b", nil),
    ]

    @Test(arguments: lists)
    func tagListsAreParsed(text: String, list: EntityTagList?) {
        #expect(EntityTagList.parse(Array(text.utf8).span) == list)
    }
}
