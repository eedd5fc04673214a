import DavitSQLite
import Testing

/// JSON texts are parsed and written by the rules of RFC 8259.
struct JSONParserTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-1", "9223372036854775807", "1.5", "\"\"", "\"a\\\"\\\\\\n\\u0001é\"",
        "[]",
        "{}", "[1,[2,[3,[]]],{}]", #"{"a":{"b":[{"c":null},{"d":[]}],"e":1},"f":"g"}"#, #"{"a":1,"a":2}"#,
    ])
    func textIsUnchanged(_ text: String) { #expect(JSONParser.parse(text)?.description == text) }

    @Test(arguments: ["", "{", "[1,]", "{a:1}", "'a'", "01", "nul", "[1] 2", "\"\u{1}\"", "+1", "NaN"])
    func malformedTextIsRefused(_ text: String) { #expect(JSONParser.parse(text) == nil) }

    @Test func pathsFindValues() {
        let text = #"{"a":{"b":[10,{"c":"x"},null]},"d e":false}"#
        #expect(JSONParser.value(at: "$.a.b[0]", in: text) == 10)
        #expect(JSONParser.value(at: "$.a.b[#-2].c", in: text) == "x")
        #expect(JSONParser.value(at: "$.a.b[2]", in: text) == .null)
        #expect(JSONParser.value(at: #"$."d e""#, in: text) == false)
        #expect(JSONParser.value(at: "$.a.z", in: text) == nil)
        #expect(JSONParser.value(at: "$.a", in: "{") == nil)
        #expect(JSONParser.isPath("$.a[0]") && !JSONParser.isPath("a") && !JSONParser.isPath("$.a["))
    }

    /// Nested values are neither parsed nor released by recursion that a client could make too deep.
    @Test func depthIsLimited() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(JSONParser.parse(nested(900))?.description == nested(900))
        #expect(JSONParser.parse(nested(100_000)) == nil)
    }

    /// Parsing takes time in proportion to the length: an array of 200,000 elements is not copied for each.
    @Test func longArraysAreParsed() {
        let objects = String(repeating: #"{"a":1},"#, count: 100_000)
        let text = "[\(objects)[\(String(repeating: "0,", count: 99_999))0]]"
        let value = JSONParser.parse(text)
        #expect(value?.elements?.count == 100_001)
        #expect(value?.elements?.last?.elements?.count == 100_000)
    }
}
