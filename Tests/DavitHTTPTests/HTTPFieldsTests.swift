import DavitHTTP
import Testing

struct HTTPFieldsTests {
    static let encodings: [(value: String, line: String)] = [
        ("plain", "ETag: plain\r\n"), ("", "ETag: \r\n"), ("a\tb é", "ETag: a\tb é\r\n"),
        // RFC 9110 §5.5: characters that would end the line or confuse recipients become spaces.
        ("a\r\nSet-Cookie: b", "ETag: a  Set-Cookie: b\r\n"), ("a\rb\nc\0d", "ETag: a b c d\r\n"),
        ("\r\n\r\n<html>", "ETag:     <html>\r\n"),
    ]

    @Test(arguments: encodings)
    func valueCannotEndItsLine(value: String, line: String) {
        var fields = HTTPFields()
        fields.append(.etag, value)
        #expect(text(fields.encoded) == line)
        fields = HTTPFields()
        fields.append(.etag, Array(value.utf8))
        #expect(text(fields.encoded) == line)
        fields = HTTPFields()
        fields.append(.etag, AnySequence(value.utf8))
        #expect(text(fields.encoded) == line)
        fields = HTTPFields()
        fields.append(named: "ETag", value)
        #expect(text(fields.encoded) == line)
    }

    /// Each known name must have its own bit.
    @Test func everyKnownNameIsDistinct() throws {
        for name in FieldName.allCases where name != .other {
            var fields = HTTPFields()
            fields.append(name, "1")
            let host = name == .host ? "" : "Host: a\r\n"
            // `1` is a well-formed value for all other fields, including those that are validated.
            let value = name == .expect ? "100-continue" : name == .transferEncoding ? "chunked" : "1"
            let request = try HTTPRequest(
                parsing: Array("GET / HTTP/1.1\r\n\(host)\(name.text): \(value)\r\n\r\n".utf8))
            for other in FieldName.allCases where other != .other {
                #expect(fields.contains(other) == (other == name))
                #expect(request.contains(other) == (other == name || other == .host))
            }
            fields.remove(name)
            #expect(!fields.contains(name) && fields.encoded.isEmpty)
        }
    }

    @Test func fieldsAreFoundByNameInAnyCase() {
        var fields = HTTPFields()
        fields.append(.contentLength, 5)
        fields.append(named: "X-Own", "1")
        fields.append(named: "last-modified", "now")
        #expect(fields.contains(.contentLength) && fields.contains(.lastModified))
        #expect(!fields.contains(.etag) && !fields.contains(.other))
        #expect(fields.first(.contentLength) == "5")
        #expect(fields.first(.lastModified) == "now")
        #expect(fields.first(named: "x-OWN") == "1")
        #expect(fields.first(named: "x") == nil && fields.first(.etag) == nil)
    }

    @Test(arguments: [0, 7, 10, -1, 1_234_567_890, .max, .min] as [Int64])
    func numbersAreWrittenInDecimal(number: Int64) {
        var bytes = Array("n=".utf8)
        bytes.appendDecimal(number)
        #expect(text(bytes) == "n=\(number)")
    }

    @Test func datesAndWrittenValuesAreFields() {
        var fields = HTTPFields()
        fields.append(.lastModified, Timestamp(seconds: 784_111_777))
        fields.append(.etag) { $0 += Array("\"a-1\"".utf8) }
        #expect(
            text(fields.encoded)
                == "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: \"a-1\"\r\n")
        #expect(fields.contains(.lastModified) && fields.first(.etag) == "\"a-1\"")
    }

    @Test func allFieldsOfANameAreRemoved() {
        var fields = HTTPFields()
        fields.append(.vary, "a")
        fields.append(.etag, "b")
        fields.append(named: "vARY", "c")
        fields.append(named: "X-Vary", "d")
        fields.remove(.vary)
        #expect(!fields.contains(.vary))
        #expect(String(decoding: fields.encoded, as: UTF8.self) == "ETag: b\r\nX-Vary: d\r\n")
    }

    @Test func onlyMissingFieldsAreMerged() {
        var fields = HTTPFields()
        fields.append(.allow, "GET")
        var others = HTTPFields()
        others.append(.allow, "PUT")
        others.append(.dav, "1")
        others.append(.dav, "2")
        fields.appendMissing(others)
        #expect(String(decoding: fields.encoded, as: UTF8.self) == "Allow: GET\r\nDAV: 1\r\nDAV: 2\r\n")
        #expect(fields.contains(.dav))
    }
}

struct HTTPRequestFieldTests {
    @Test func fieldsOfARequestAreFoundInAnyCase() throws {
        let request = try request(fields: ["Accept: a", "X-Own: 1", "ACCEPT: b", "x-own: 2", "Empty:"])
        #expect(request.count(of: .accept) == 2 && request.contains(.host) && !request.contains(.range))
        #expect(request.string(of: .accept) == "a" && request.string(of: .range) == nil)
        #expect(request.bytes(of: .accept) == Array("a".utf8) && request.bytes(of: .range) == nil)
        #expect(request.combinedBytes(of: .accept) == Array("a, b".utf8))
        #expect(request.combinedBytes(of: .range) == nil)
        #expect(request.string(named: "x-OWN") == "1" && request.string(named: "x-ow") == nil)
        #expect(request.string(named: "empty") == "")
        #expect(request.withValue(of: .accept) { $0.count } == 1)
        #expect(request.withValue(of: .range) { $0.count } == nil)
    }

    @Test func elementsOfAllLinesAreVisited() throws {
        let request = try request(fields: ["Accept: a ,,\tb", "Accept:", "Accept: c"])
        var elements: [String] = []
        request.forEachElement(of: .accept) { elements.append(text([UInt8](copying: $0))) }
        #expect(elements == ["a", "", "b", "", "c"])
    }

    @Test func bytesMustBeExactlyOneHead() {
        #expect(throws: HTTPError.self) { try HTTPRequest(parsing: Array("GET / HTTP/1.0\r\n".utf8)) }
        #expect(throws: HTTPError.self) { try HTTPRequest(parsing: Array("GET / HTTP/1.0\r\n\r\nx".utf8)) }
    }
}

struct TimestampTests {
    @Test(
        arguments: [(0, 0), (999_999_999, 0), (1_000_000_000, 1), (-1, -1), (-1_000_000_000, -1)]
            as [(Int64, Int64)])
    func secondsAreRoundedDown(nanoseconds: Int64, seconds: Int64) {
        #expect(Timestamp(nanoseconds: nanoseconds).seconds == seconds)
    }
}
