import DavitHTTP
import DavitPage
import DavitTesting
import Testing

/// The texts of the page, which have the same keys and placeholders in all languages, and the choice of the
/// language.
struct PageStringsTests {
    /// The folders with a file for each language. Only the first is loaded with the page.
    private static let folders = ["strings", "people/strings"]

    private static func texts(_ language: PageLanguage, in folder: String = "strings") -> [String: String] {
        PageStrings.parse(PageFiles.shared.source(of: "\(folder)/\(language.rawValue).txt") ?? [])
    }

    @Test(arguments: PageLanguage.allCases, folders)
    func everyKeyIsInEveryLanguage(language: PageLanguage, folder: String) {
        let english = Self.texts(.en, in: folder)
        let texts = Self.texts(language, in: folder)
        #expect(!english.isEmpty)
        #expect(Set(english.keys).subtracting(texts.keys).sorted() == [], "missing in \(language.rawValue)")
        #expect(Set(texts.keys).subtracting(english.keys).sorted() == [], "only in \(language.rawValue)")
        for (key, text) in texts { #expect(!text.isEmpty, "\(key)") }
    }

    @Test(arguments: PageLanguage.allCases, folders)
    func placeholdersAreEqualInAllLanguages(language: PageLanguage, folder: String) {
        let english = Self.texts(.en, in: folder)
        for (key, text) in Self.texts(language, in: folder) {
            #expect(Self.places(text) == Self.places(english[key] ?? ""), "\(key)")
        }
    }

    /// Returns the placeholders such as `{name}`, sorted.
    private static func places(_ text: String) -> [String] {
        text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().map {
            String($0.prefix { $0 != "}" })
        }.sorted()
    }

    @Test func everyServerTextIsDefinedAndUsed() {
        let written = Self.texts(.en).keys.filter { $0.hasPrefix("server.") }
        let plain = Set(
            written.map { key in
                for form in [".one", ".other"] where key.hasSuffix(form) {
                    return String(key.dropLast(form.count))
                }
                return key
            })
        #expect(plain == Set(Phrase.allCases.map(\.rawValue)))
        // Plural texts have both the forms `.one` and `.other`.
        for key in written where key.hasSuffix(".one") {
            #expect(written.contains(key.dropLast(4) + ".other"))
        }
    }

    @Test func linesAreParsedIntoKeysAndTexts() {
        let file = "# a = b\n\na.b = c = d\nempty = \nnothing\na=b\nkey = \u{A0}x\\ny\u{A0}\n"
        let texts = PageStrings.parse(Array(file.utf8))
        #expect(texts == ["a.b": "c = d", "empty": "", "key": "\u{A0}x\ny\u{A0}"])
    }

    typealias LanguagePreference = (field: String?, query: String, language: String)

    static let languagePreferences: [LanguagePreference] = [
        (nil, "", "en"), ("", "", "en"), ("de", "", "de"), ("de-AT,en;q=0.5", "", "de"), ("en,de", "", "en"),
        ("en;q=0.5, de;q=0.9", "", "de"), ("nl, fr;q=0.2", "", "fr"), ("de;q=0", "", "en"), ("*", "", "en"),
        ("DE", "", "de"), ("zh-CN", "", "zh-Hans"), ("zh-Hans-SG", "", "zh-Hans"), ("zh-TW, fr", "", "fr"),
        ("zh-Hant-CN", "", "en"), ("es-419;q=1.000", "", "es"), ("de;q=x", "", "en"), ("english", "", "en"),
        ("de", "?lang=fr", "fr"), ("de", "?lang=xx", "de"), ("de", "?lang=zh-Hans", "zh-Hans"),
    ]

    @Test(arguments: languagePreferences)
    func visitorChoosesTheLanguage(row: LanguagePreference) async throws {
        let page = try TestPage()
        let fields = row.field.map { [("Accept-Language", $0)] } ?? []
        let response = try await page.client.send("GET", "/" + row.query, fields)
        #expect(response["Content-Language"] == row.language)
        #expect(response.text.contains("<html lang=\"\(row.language)\" dir=\"ltr\">"))
    }
}
