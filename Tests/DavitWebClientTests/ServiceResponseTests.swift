import Testing

@testable import DavitWebClient

struct ServiceResponseTests {
    private static func response(_ lines: [String]) -> ServiceResponse {
        var response = ServiceResponse(status: 200)
        for line in lines { response.read(line: Array(line.utf8)) }
        return response
    }

    static let lines: [(lines: [String], fields: [String: String])] = [
        (["HTTP/1.1 200 OK\r\n", "Location: https://a/b?c:d\r\n", "\r\n"], ["location": "https://a/b?c:d"]),
        (["HTTP/2 200\r\n", "replay-nonce:abc\r\n"], ["replay-nonce": "abc"]),
        (["Retry-After:\t 5 \r\n"], ["retry-after": "5"]), (["RETRY-AFTER:\r\n"], ["retry-after": ""]),
        // Others are not kept, and the first one counts.
        (["Server: x\r\n", "Location: a\r\n", "Location: b\r\n"], ["location": "a"]),
        // The head of an interim response.
        (["HTTP/1.1 103 Early\r\n", "Location: a\r\n", "\r\n", "HTTP/1.1 200 OK\r\n"], [:]),
        (["no colon\r\n", ":\r\n", ""], [:]),
        (["Location: " + String(repeating: "a", count: 5000)], [:]),
    ]

    @Test(arguments: lines)
    func fieldsAreRead(lines: [String], fields: [String: String]) {
        #expect(Self.response(lines).fields == fields)
    }
}
