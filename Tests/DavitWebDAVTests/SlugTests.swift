import DavitWebDAV
import Testing

/// RFC 5023 §9.7: names derived from the name that a client proposes.
struct SlugTests {
    static let rows: [(value: String, name: String?)] = [
        ("photo.jpg", "photo.jpg"), ("The Beach at S%C3%A8te", "The Beach at Sète"), ("100%", "100%"),
        ("%E2%82%AC.txt", "€.txt"), ("a%2Fb", "a-b"), ("../../etc/passwd", "-..-etc-passwd"),
        ("..%2F..%2Fx", "-..-x"), (".htaccess", "htaccess"), ("  a b . ", "a b"),
        ("con:fig?.txt", "con-fig-.txt"),
        ("a%00b%0D%0Ac", "a-b--c"), ("C:\\temp\\x.doc", "C--temp-x.doc"), ("a%E2%80%AEgpj.exe", "a-gpj.exe"),
        ("%ff%fe", nil), ("", nil), (".", nil), ("..", nil), ("%20", nil), (" . ", nil),
        (".davit-aaaaaaaaaaaaaaaa", "davit-aaaaaaaaaaaaaaaa"), ("日本語.txt", "日本語.txt"),
    ]

    @Test(arguments: rows)
    func validNameIsDerived(value: String, name: String?) {
        #expect(Slug.name(from: Array(value.utf8)).map { String(decoding: $0, as: UTF8.self) } == name)
    }

    @Test(arguments: ["n", "é", "日"])
    func longNamesAreCutBetweenCharactersAndKeepTheExtension(character: String) throws {
        let value = String(repeating: character, count: 300) + ".jpg"
        let name = try #require(Slug.name(from: Array(value.utf8)))
        let text = try #require(String(validating: name, as: UTF8.self))
        #expect(name.count <= 200 && name.count > 190)
        #expect(text.hasSuffix("\(character).jpg"))
    }

    @Test func namesAreLimited() throws {
        for count in [200, 201] {
            let name = try #require(Slug.name(from: Array(String(repeating: "n", count: count).utf8)))
            #expect(name.count == 200)
        }
    }
}
