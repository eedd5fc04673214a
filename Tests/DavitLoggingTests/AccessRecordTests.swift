import DavitHTTP
import DavitLogging
import Testing

struct AccessRecordTests {
    /// - Parameter requestLine: nil for a request whose head could not be parsed.
    static func record(
        _ requestLine: String? = "GET / HTTP/1.1", fields: [String] = [], status: HTTPStatus? = .ok,
        bytesReceived: Int64 = 0, bytesSent: Int64 = 0, duration: Duration = .zero, principal: String? = nil,
        peer: String = "::1", isComplete: Bool = true
    ) throws -> AccessRecord {
        var request: HTTPRequest?
        if let requestLine {
            let head = Array(([requestLine, "Host: h"] + fields + ["", ""]).joined(separator: "\r\n").utf8)
            request = try HTTPRequest(parsing: head)
            request?.principal = principal
            request?.peerAddress = peer
        }
        return AccessRecord(
            request: request, status: status, bytesReceived: bytesReceived, bytesSent: bytesSent,
            duration: duration, time: Timestamp(nanoseconds: 784_111_777_123_456_789), connectionPeer: peer,
            isComplete: isComplete)
    }

    static func line(_ format: AccessFormat, _ record: AccessRecord) -> String {
        var line: [UInt8] = []
        format.append(record, to: &line)
        return String(decoding: line, as: UTF8.self)
    }

    static func full() throws -> AccessRecord {
        try record(
            "PUT /a%20b?x=1 HTTP/1.1", fields: ["Referer: http://a/", "User-Agent: curl/8"], status: .created,
            bytesReceived: 3, bytesSent: 17, duration: .microseconds(1250), principal: "anna",
            peer: "192.0.2.7")
    }

    @Test func defaultFormatHasRequestAndResponse() throws {
        let text = #"192.0.2.7 anna "PUT /a%20b?x=1 HTTP/1.1" 201 17 bytes 1.250 ms"#
        #expect(try Self.full().line == text)
        #expect(Self.line(.davit, try Self.full()) == text)
    }

    @Test func commonAndCombinedFormatsMatchApache() throws {
        let text = #"192.0.2.7 - anna [06/Nov/1994:08:49:37 +0000] "PUT /a%20b?x=1 HTTP/1.1" 201 17"#
        #expect(Self.line(.common, try Self.full()) == text)
        #expect(Self.line(.combined, try Self.full()) == text + #" "http://a/" "curl/8""#)
    }

    @Test func jsonFormatHasAllFields() throws {
        #expect(
            Self.line(.json, try Self.full()) == #"""
                {"time":"1994-11-06T08:49:37.123Z","peer":"192.0.2.7","user":"anna","method":"PUT",\#
                "target":"/a%20b","query":"x=1","version":"1.1","tls":false,"host":"h","referer":"http://a/",\#
                "user_agent":"curl/8","status":201,"bytes_received":3,"bytes_sent":17,"duration_ms":1.250,\#
                "complete":true}
                """#)
    }

    @Test func unknownValuesAreDashes() throws {
        let record = try Self.record(nil, status: .badRequest, peer: "")
        #expect(record.line == #"- - "-" 400 0 bytes 0.000 ms"#)
        #expect(Self.line(.combined, record) == #"- - - [06/Nov/1994:08:49:37 +0000] "-" 400 0 "-" "-""#)
        let text =
            #"{"time":"1994-11-06T08:49:37.123Z","peer":"","status":400,"bytes_received":0,"bytes_sent":0,"#
        #expect(Self.line(.json, record) == text + #""duration_ms":0.000,"complete":true}"#)
    }

    @Test func unansweredRequestIsLogged() throws {
        let record = try Self.record("PUT / HTTP/1.1", status: nil, isComplete: false)
        #expect(record.line == #"::1 - "PUT / HTTP/1.1" - 0 bytes 0.000 ms cut short"#)
        #expect(Self.line(.json, record).contains(#""status":null,"#))
        #expect(Self.line(.json, record).hasSuffix(#""complete":false}"#))
    }

    @Test func abortedResponseIsMarked() throws {
        let text = try Self.record(duration: .seconds(61), isComplete: false).line
        #expect(text == #"::1 - "GET / HTTP/1.1" 200 0 bytes 61000.000 ms cut short"#)
    }

    @Test func asteriskTargetIsLogged() throws {
        let record = try Self.record("OPTIONS * HTTP/1.1")
        #expect(record.target == [UInt8(ascii: "*")])
        #expect(record.line == #"::1 - "OPTIONS * HTTP/1.1" 200 0 bytes 0.000 ms"#)
        #expect(Self.line(.json, record).contains(#""target":"*","version""#))
    }

    @Test func assignedRequestIDIsLogged() throws {
        let record = try Self.record()
        #expect(record.requestID == nil)
        let number = try #require(record.request).requestID
        #expect(number.utf8.count == 16 && record.request?.requestID == number)
        #expect(record.line.hasSuffix(" ms request \(number)"))
        #expect(Self.line(.json, record).hasSuffix(#","request":"\#(number)"}"#))
    }

    // A user name must not look like two words or begin a new line.
    @Test func userNamesAreLoggedAsOneWord() throws {
        let record = try Self.record(principal: "a b\n\"")
        #expect(record.line.hasPrefix(#"::1 a\x20b\x0a\x22 "GET"#))
        #expect(Self.line(.common, record).hasPrefix(#"::1 - a\x20b\x0a\x22 ["#))
    }
}
