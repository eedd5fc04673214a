import DavitControl
import DavitHTTP
import Testing

@Suite struct JSONFieldsTests {
    @Test func stringsAndNullAreRead() throws {
        let fields = try JSONFields(
            parsing: Array(#" {"a": "x\u00e9\ud83d\ude00\"", "b": null, "": "y"} "#.utf8))
        #expect(fields["a"] == "xé😀\"")
        #expect(fields["b"] == nil)
        #expect(fields.contains("b"))
        #expect(!fields.contains("c"))
        #expect(fields[""] == "y")
        #expect(try JSONFields(parsing: Array("{}".utf8))["a"] == nil)
    }

    static let refused: [(text: String, status: HTTPStatus)] = [
        ("", .badRequest), ("{", .badRequest), ("{a: 'JSON5'}", .badRequest), (#"{"a":"b",}"#, .badRequest),
        ("{\"a\":\"\n\"}", .badRequest), ("{\"a\":\"\0\"}", .badRequest), (#"{"a":"b"} x"#, .badRequest),
        (String(repeating: "[", count: 5000), .badRequest), ("[]", .unprocessableContent),
        ("\"a\"", .unprocessableContent), ("1", .unprocessableContent), (#"{"a":1}"#, .unprocessableContent),
        (#"{"a":true}"#, .unprocessableContent), (#"{"a":["b"]}"#, .unprocessableContent),
        (#"{"a":{"b":"c"}}"#, .unprocessableContent), (#"{"a":"b","a":"c"}"#, .unprocessableContent),
    ]

    @Test(arguments: refused)
    func otherTextsAreRefused(row: (text: String, status: HTTPStatus)) {
        do throws(HTTPError) {
            _ = try JSONFields(parsing: Array(row.text.utf8))
            Issue.record("accepted \(row.text)")
        } catch {
            #expect(error.status == row.status, "\(row.text)")
        }
    }

    @Test func invalidUTF8IsRefused() {
        #expect(throws: HTTPError.self) {
            try JSONFields(parsing: [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x22, 0x22, 0x7D])
        }
    }
}
