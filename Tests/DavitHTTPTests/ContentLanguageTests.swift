import DavitHTTP
import Testing

/// Content-Language (RFC 9110 §8.5).
struct ContentLanguageTests {
    static let wellFormed: [(value: String, tags: [String])] = [
        ("de", ["de"]), ("mi, en", ["mi", "en"]), ("  en-US\t", ["en-US"]),
        ("da,en-CA ,\tzh-Hant-TW", ["da", "en-CA", "zh-Hant-TW"]),
        ("x-klingon", ["x-klingon"]), ("sl-rozaj-1994", ["sl-rozaj-1994"]), ("es-419", ["es-419"]),
        // Lists may contain empty elements (§5.6.1).
        ("", []), (" , ,", []), (",en,,de,", ["en", "de"]),
        (String(repeating: "a,", count: 128), Array(repeating: "a", count: 128)),
    ]

    @Test(arguments: wellFormed)
    func wellFormedValuesAreParsed(value: String, tags: [String]) throws {
        let bytes = Array(value.utf8)
        let parsed = ContentLanguage(parsing: bytes.span)
        let language = try #require(parsed)
        #expect(language.tags == tags)
        // The encoded value can be parsed again.
        let text = Array(language.description.utf8)
        if text.count <= ContentLanguage.maximumBytes {
            let again = ContentLanguage(parsing: text.span)
            #expect(again == language)
        }
    }

    static let malformed: [String] = [
        "en us", "en_US", "-", "en-", "-en", "en--us", "1en", "toolonglanguage", "en-toolongsubtag",
        "d\u{E9}", "*",
        "en;q=1", "\"en\"", "en\u{0}", "<en>", String(repeating: "a,", count: 128) + "b",
    ]

    @Test(arguments: malformed)
    func malformedValuesAreRefused(value: String) {
        let bytes = Array(value.utf8)
        let language = ContentLanguage(parsing: bytes.span)
        #expect(language == nil)
    }

    @Test func valuesAreLimited() {
        for (count, isRead) in [
            (ContentLanguage.maximumBytes, true), (ContentLanguage.maximumBytes + 1, false),
        ] {
            let value =
                Array(String(repeating: "a,", count: 127).utf8) + [UInt8](repeating: 97, count: count - 254)
            #expect(value.count == count)
            // Surrounding white space is not counted.
            let spaced = [0x20] + value + [0x09]
            let language = ContentLanguage(parsing: spaced.span)
            #expect((language != nil) == isRead)
        }
    }
}
