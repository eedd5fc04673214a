internal import DavitHTTP
internal import DavitWebDAV

private let propFindBody = Array(
    """
    <?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:creationdate/><D:displayname/>\
    <D:getcontentlength/><D:getetag/><D:getlastmodified/><D:resourcetype/></D:prop></D:propfind>
    """.utf8)

private let ifValue = Array(
    "<http://files.example.com/a/b.txt> (<urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6> [\"18a5f3c2b1d-400\"])"
        .utf8)

func webDAVBenchmarks() -> [Benchmark] {
    [
        Benchmark("PropFindBody, 6 properties") {
            guard case .prop(let names) = try? PropFindBody.parse(propFindBody) else { return -1 }
            return names.count
        },
        Benchmark("IfHeader, a token and a tag") {
            (try? IfHeader(parsing: ifValue.span))?.lists.count ?? -1
        },
        member(),
    ]
}

/// Measures writing one member of a listing, whose properties are already known.
private func member() -> Benchmark {
    let writer = MultistatusWriter()
    let buffer = IOBuffer(capacity: 64 * 1024)
    let base = Array("/Documents/Reports%20and%20drafts/".utf8)
    let name = Array("minutes of the meeting.txt".utf8)
    let date = Array("2026-11-06T08:49:37Z".utf8)
    let tag = Array("\"18a5f3c2b1d-400-17d2f3a4b5c6\"".utf8)
    writer.begin()
    return Benchmark("MultistatusWriter, a member with 6 properties") {
        writer.beginResponse(href: base, member: name, isCollection: false)
        writer.beginPropStat()
        writer.property("creationdate", bytes: date)
        writer.property("displayname", escaped: name)
        writer.property("getcontentlength", number: 123_456)
        writer.property("getetag", escaped: tag)
        writer.property("getlastmodified", bytes: date)
        writer.property("resourcetype", markup: "")
        writer.endPropStat(status: .ok)
        writer.endResponse()
        buffer.removeAll()
        return writer.take(into: buffer)
    }
}
