internal import DavitHTTP
internal import DavitLogging
internal import DavitServer

/// Measures formatting a line of the access log, including the creation of its record.
func accessBenchmarks() -> [Benchmark] {
    let head = """
        GET /photos/2026/summer/IMG_0001.jpg?size=large HTTP/1.1\r
        Host: files.example.com\r
        Referer: https://files.example.com/photos/\r
        User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0\r
        \r

        """
    guard let request = try? HTTPRequest(parsing: Array(head.utf8)) else { return [] }
    request.principal = "anna"
    request.peerAddress = "192.0.2.7"
    return AccessFormat.allCases.map { format in
        var lines: [UInt8] = []
        return Benchmark("AccessFormat, \(format.rawValue)") {
            let record = AccessRecord(
                request: request, status: .ok, bytesSent: 123_456, duration: .microseconds(1250),
                time: Timestamp(seconds: 1_795_000_000), connectionPeer: "192.0.2.7", isComplete: true)
            lines.removeAll(keepingCapacity: true)
            format.append(record, to: &lines)
            return lines.count
        }
    }
}
