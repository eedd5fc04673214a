import DavitEngine
import DavitTesting
import Testing

/// The report that lists the trash.
struct TrashReportTests {
    static let body = #"<trash xmlns="urn:davit:trash"/>"#

    @Test func depthSelectsTheReportedEntries() async throws {
        let share = try TestShare.keeping()
        #expect(share.shell("mkdir -p d/e; echo 1 >a; echo 22 >d/b; echo 333 >d/e/c") == 0)
        for name in ["/d/e/c", "/d/b", "/d/e", "/a"] {
            _ = try await share.client.send("DELETE", name, principal: name == "/d/b" ? "a&b" : nil)
        }
        func reportedNames(_ target: String, _ depth: String) async throws -> [String] {
            let response = try await share.client.send(
                "REPORT", target, [("Depth", depth)], text: Self.body)
            #expect(response.status == 207)
            return response.text.split(separator: "<D:href>").dropFirst().map {
                String($0.prefix { $0 != "<" })
            }
        }
        #expect(try await reportedNames("/", "infinity") == ["/d/e/c", "/d/b", "/d/e/", "/a"])
        #expect(try await reportedNames("/", "1") == ["/a"])
        #expect(try await reportedNames("/d/", "1") == ["/d/b", "/d/e/"])
        #expect(try await reportedNames("/d/", "infinity") == ["/d/e/c", "/d/b", "/d/e/"])
        #expect(try await reportedNames("/d/", "0") == [])
        let text = try await share.client.send("REPORT", "/d/", [("Depth", "1")], text: Self.body).text
        for part in [
            ":principal xmlns:N=\"urn:davit:trash\">a&amp;b<", ":reason xmlns:N=\"urn:davit:trash\">deleted<",
            "<D:getcontentlength>3<", "<D:resourcetype><D:collection/></D:resourcetype>",
            ":deleted xmlns:N=\"urn:davit:trash\">2027-01-15T08:00:00.000Z<",
            ":id xmlns:N=\"urn:davit:trash\">\(share.lastTrash == nil ? "-" : "")",
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        let supported = try await share.client.send(
            "PROPFIND", "/", [("Depth", "0")],
            text: #"<propfind xmlns="DAV:"><prop><supported-report-set/></prop></propfind>"#)
        #expect(supported.text.contains(#"<T:trash xmlns:T="urn:davit:trash"/>"#))
    }

    /// With Depth 0, the report for a file lists its earlier versions.
    @Test func earlierVersionsOfAFileAreReported() async throws {
        let share = try TestShare.keeping { $0.trash?.versionSeconds = 0 }
        for text in ["1", "22", "333"] { _ = try await share.client.send("PUT", "/a", text: text) }
        let response = try await share.client.send("REPORT", "/a", text: Self.body)
        #expect(response.text.components(separatedBy: "<D:href>/a</D:href>").count == 3)
    }

    /// The entries do not fit into one piece of the response.
    @Test func everyEntryOfALargeTrashIsReported() async throws {
        let share = try TestShare.keeping()
        #expect(share.shell("for n in $(seq 600); do : >f$n; done") == 0)
        for number in 1...600 { _ = try await share.client.send("DELETE", "/f\(number)") }
        let response = try await share.client.send("REPORT", "/", [("Depth", "1")], text: Self.body)
        #expect(response.text.components(separatedBy: "<D:response>").count == 601)
        #expect(response.text.hasSuffix("</D:multistatus>"))
    }
}
