internal import DavitHTTP

private let shortHead = Array(
    """
    GET /photos/2026/summer/IMG_0001.jpg HTTP/1.1\r
    Host: files.example.com\r
    Connection: keep-alive\r
    Accept: */*\r
    User-Agent: davit-benchmark/1\r
    \r

    """.utf8)

/// A typical request from a desktop WebDAV client.
private let longHead = Array(
    """
    PROPFIND /Documents/Reports%20and%20drafts/ HTTP/1.1\r
    Host: files.example.com:8080\r
    Accept: */*\r
    Accept-Encoding: gzip, deflate\r
    Accept-Language: en-GB,en;q=0.9\r
    Authorization: Basic YW5uYTpvcGVuOnNlc2FtZQ==\r
    Cache-Control: no-cache\r
    Connection: keep-alive\r
    Content-Length: 181\r
    Content-Type: application/xml; charset="utf-8"\r
    Depth: 1\r
    User-Agent: WebDAVFS/3.0.0 (03008000) Darwin/23.0.0 (arm64)\r
    X-Client-Version: 17.2\r
    \r

    """.utf8)

func wireBenchmarks() -> [Benchmark] {
    [parsing("HeadParser, 4 fields", shortHead), parsing("HeadParser, 12 fields", longHead)]
        + pathBenchmarks() + [encoding()]
}

private func parsing(_ name: String, _ head: [UInt8]) -> Benchmark {
    var parser = HeadParser()
    let request = HTTPRequest()
    return Benchmark(name) {
        unsafe head.withUnsafeBytes { unsafe (try? parser.parse($0, into: request)) ?? -1 }
    }
}

private func pathBenchmarks() -> [Benchmark] {
    let target = Array("/Documents/Reports%20and%20drafts/2026/%C3%9Cbersicht.pdf".utf8)
    let segments = target.split(separator: UInt8(ascii: "/")).map(Array.init)
    let path = ResourcePath(segments: segments.compactMap { PercentCoding.decode($0) }) ?? .root
    var parsed = RequestTarget()
    var encoded: [UInt8] = []
    return [
        Benchmark("PercentCoding, decode a segment") { PercentCoding.decode(segments[1])?.count ?? -1 },
        Benchmark("PercentCoding, encode a path of 4 segments") {
            encoded.removeAll(keepingCapacity: true)
            PercentCoding.append(path, to: &encoded)
            return encoded.count
        },
        Benchmark("ResourcePath of a target of 4 segments") {
            parsed.removeAll()
            guard (try? parsed.parse(target.span, method: .get)) != nil else { return -1 }
            return (try? parsed.resourcePath().path.bytes.count) ?? -1
        },
    ]
}

private func encoding() -> Benchmark {
    let exchange = HeadEncoder.Context(isHead: false, minorVersion: 1, keepsAlive: true)
    let date = Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8)
    let tag = Array("\"18a5f3c2b1d-400-17d2f3a4b5c6\"".utf8)
    let name = Array("davit".utf8)
    var buffer: [UInt8] = []
    return Benchmark("HTTPFields and HeadEncoder, 200 with 7 fields") {
        var fields = HTTPFields()
        fields.append(.contentType, "image/jpeg")
        fields.append(.lastModified, date)
        fields.append(.etag, tag)
        fields.append(.acceptRanges, "bytes")
        buffer.removeAll(keepingCapacity: true)
        _ = HeadEncoder.encode(
            HTTPResponse(status: .ok, fields: fields), length: 1024, for: exchange, date: date, server: name,
            into: &buffer)
        return buffer.count
    }
}
