import DavitHTTP
import Testing

/// RFC 9110 §8.3.1 and §5.6.6.
struct ContentTypeTests {
    static let types: [(value: String, essence: String, parameters: [(String, String)])] = [
        ("text/plain", "text/plain", []), ("Text/HTML;Charset=UTF-8", "text/html", [("charset", "UTF-8")]),
        ("text/html; charset=\"utf-8\" ; a=b", "text/html", [("charset", "utf-8"), ("a", "b")]),
        (
            "multipart/form-data; boundary=\"a b;c=\\\"d\\\\\"", "multipart/form-data",
            [("boundary", "a b;c=\"d\\")]
        ),
        // Empty parameters between semicolons are allowed.
        ("text/plain;; ;a=b;", "text/plain", [("a", "b")]),
        ("text/plain; a=\"\"", "text/plain", [("a", "")]),
    ]

    @Test(arguments: types)
    func typeAndParametersAreParsed(value: String, essence: String, parameters: [(String, String)]) throws {
        let type = try #require(Self.parse(value))
        #expect(type.essence == essence)
        #expect(type.parameters.all.map(\.name) == parameters.map(\.0))
        #expect(type.parameters.all.map { String(decoding: $0.value, as: UTF8.self) } == parameters.map(\.1))
    }

    @Test(arguments: [
        "", "text", "text/", "/plain", "text /plain", "text/plain a=b", "text/plain; a", "text/plain; a=",
        "text/plain; a =b", "text/plain; a= b", "text/plain; a=\"b", "text/plain; a=\"b\\",
        "text/plain; a=b c",
    ])
    func malformedTypesAreRefused(value: String) {
        #expect(Self.parse(value) == nil)
    }

    /// Each parameter uses more memory than its bytes.
    @Test func parametersAreLimited() {
        let parameters = String(repeating: ";a=1", count: 64)
        #expect(Self.parse("text/plain" + parameters)?.parameters.all.count == 64)
        #expect(Self.parse("text/plain" + parameters + ";a=1") == nil)
    }

    private static func parse(_ value: String) -> ContentType? {
        ContentType(parsing: Array(value.utf8).span)
    }
}
