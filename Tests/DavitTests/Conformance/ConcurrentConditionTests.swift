import DavitTesting
import Testing

/// A condition and the change that depends on it are atomic: of several identical concurrent requests, only
/// one succeeds.
@Suite(.serialized)
struct ConcurrentConditionTests {
    struct ConcurrentRequest: CustomStringConvertible, Sendable {
        /// `{n}` is the number of the request, `{tag}` the entity tag of `/a`.
        var line: String
        var fields: [String] = []
        var content = ""
        var statuses: [Int: Int]

        var description: String { line }
    }

    static let concurrentRequests = [
        ConcurrentRequest(
            line: "PUT /a", fields: ["If-Match: {tag}"], content: "version {n}", statuses: [204: 1, 412: 99]),
        ConcurrentRequest(
            line: "PUT /a", fields: ["If: ([{tag}])"], content: "version {n}", statuses: [204: 1, 412: 99]),
        ConcurrentRequest(
            line: "PUT /new", fields: ["If-None-Match: *"], content: "version {n}",
            statuses: [201: 1, 412: 99]),
        ConcurrentRequest(line: "DELETE /a", fields: ["If-Match: {tag}"], statuses: [204: 1, 404: 99]),
        ConcurrentRequest(
            line: "MOVE /a", fields: ["If-Match: {tag}", "Destination: /to-{n}"], statuses: [201: 1, 404: 99]),
        ConcurrentRequest(
            line: "COPY /a", fields: ["If-Match: {tag}", "Destination: /to", "Overwrite: F"],
            statuses: [201: 1, 412: 99]),
        ConcurrentRequest(
            line: "PROPPATCH /a", fields: ["If-Match: \"old\""], content: update(set("<x:p>{n}</x:p>")),
            statuses: [412: 100]),
        ConcurrentRequest(line: "MKCOL /d", fields: ["If-None-Match: *"], statuses: [201: 1, 405: 99]),
        ConcurrentRequest(
            line: "LOCK /a", fields: ["If-Match: {tag}"], content: lockInfo(), statuses: [200: 1, 423: 99]),
        ConcurrentRequest(line: "LOCK /new", content: lockInfo(), statuses: [201: 1, 423: 99]),
    ]

    @Test(arguments: concurrentRequests)
    func onlyOneOfManyConcurrentRequestsSucceeds(request: ConcurrentRequest) throws {
        try WebDAVServer().serve { client in
            let tag = try #require(try client.send("PUT /a", content: "start")["ETag"])
            let answers = try client.sendConcurrently(
                (0..<100).map { number in
                    let fill = { (text: String) in
                        text.replacing("{tag}", with: tag).replacing("{n}", with: "\(number)")
                    }
                    return (request.line, request.fields.map(fill), fill(request.content))
                })
            var counts: [Int: Int] = [:]
            for answer in answers { counts[answer.status, default: 0] += 1 }
            #expect(counts == request.statuses)
        }
    }

    /// A PROPPATCH that is answered with 412, because a PUT replaced the content first, changes nothing. A
    /// PROPPATCH before the PUT keeps its effect, because PUT preserves properties.
    @Test func propertiesBelongToTheIntendedVersion() throws {
        try WebDAVServer().serve { client in
            let tag = try #require(try client.send("PUT /a", content: "start")["ETag"])
            let answers = try client.sendConcurrently(
                (0..<50).map { number in
                    ("PROPPATCH /a", ["If-Match: \(tag)"], update(set("<x:p\(number)>1</x:p\(number)>")))
                } + [("PUT /a", ["If-Match: \(tag)"], "new")]
                    + (50..<100).map { number in
                        ("PROPPATCH /a", ["If-Match: \(tag)"], update(set("<x:p\(number)>1</x:p\(number)>")))
                    })
            #expect(answers[50].status == 204)
            let found = try client.send("PROPFIND /a", ["Depth: 0"]).content
            let patches = Array(answers[..<50]) + Array(answers[51...])
            for (number, answer) in patches.enumerated() {
                #expect(answer.status == 207 || answer.status == 412)
                #expect(found.contains("<x:p\(number) ") == (answer.status == 207), "\(number)")
            }
        }
    }
}
