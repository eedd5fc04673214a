import DavitHTTP
import DavitServer
import Testing

struct AccessRecordTests {
    func line(
        method: HTTPMethod? = .get, target: String = "/", status: HTTPStatus? = .ok, bytesSent: Int64 = 0,
        duration: Duration = .zero, principal: String? = nil, peer: String = "::1", isComplete: Bool = true
    ) -> String {
        AccessRecord(
            method: method, target: Array(target.utf8), minorVersion: 1, status: status, bytesSent: bytesSent,
            duration: duration, principal: principal, peer: peer, isComplete: isComplete
        ).line
    }

    @Test func saysWhoAskedForWhatAndWhatCameBack() {
        let text = line(
            method: .put, target: "/a%20b?x=1", status: .created, bytesSent: 17,
            duration: .microseconds(1250), principal: "anna", peer: "192.0.2.7")
        #expect(text == #"192.0.2.7 anna "PUT /a%20b?x=1 HTTP/1.1" 201 17 bytes 1.250 ms"#)
    }

    @Test func whatIsUnknownIsADash() {
        let text = line(method: nil, target: "", status: .badRequest, peer: "")
        #expect(text == #"- - "-" 400 0 bytes 0.000 ms"#)
    }

    @Test func aRequestThatWasNeverAnsweredHasALineToo() {
        let text = line(method: .put, status: nil, isComplete: false)
        #expect(text == #"::1 - "PUT / HTTP/1.1" - 0 bytes 0.000 ms cut short"#)
    }

    @Test func aCutAnswerIsMarked() {
        let text = line(duration: .seconds(61), isComplete: false)
        #expect(text == #"::1 - "GET / HTTP/1.1" 200 0 bytes 61000.000 ms cut short"#)
    }

    // A request must not be able to write lines of its own, nor to talk to the terminal of a reader.
    @Test func bytesThatAreNotPrintableASCIIAreEscaped() {
        let text = line(method: .other("A\"B"), target: "/\r\n\u{1b}[2J\"\\é", principal: "a\nb")
        #expect(
            text == #"::1 a\x0ab "A\x22B /\x0d\x0a\x1b[2J\x22\x5c\xc3\xa9 HTTP/1.1" 200 0 bytes 0.000 ms"#)
        #expect(text.utf8.allSatisfy { $0 >= 32 && $0 < 127 })
    }
}
