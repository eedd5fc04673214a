import DavitEngine
import DavitJournal
import DavitTesting
import Testing

/// The value of `supported-report-set` (RFC 3253 §3.1.5), byte for byte. It contains only elements.
struct SupportedReportsTests {
    private static let expandProperty =
        "<D:supported-report><D:report><D:expand-property/></D:report></D:supported-report>"
    private static let syncCollection =
        "<D:supported-report><D:report><D:sync-collection/></D:report></D:supported-report>"
    private static let trash =
        #"<D:supported-report><D:report><T:trash xmlns:T="urn:davit:trash"/></D:report></D:supported-report>"#

    struct Row: Sendable {
        var target: String
        var hasJournal: Bool
        var hasTrash: Bool
        var value: String
    }

    static let rows = [
        Row(target: "/", hasJournal: false, hasTrash: false, value: expandProperty),
        Row(target: "/", hasJournal: true, hasTrash: false, value: expandProperty + syncCollection),
        Row(target: "/", hasJournal: false, hasTrash: true, value: expandProperty + trash),
        Row(target: "/", hasJournal: true, hasTrash: true, value: expandProperty + syncCollection + trash),
        Row(target: "/a", hasJournal: true, hasTrash: false, value: expandProperty),
        Row(target: "/a", hasJournal: true, hasTrash: true, value: expandProperty + trash),
    ]

    @Test(arguments: rows)
    func supportedReportsAreListed(row: Row) async throws {
        let share = try TestShare(journal: row.hasJournal ? ShareJournal.Options() : nil) {
            $0.trash = row.hasTrash ? TrashLimits() : nil
        }
        #expect(share.shell("touch a") == 0)
        let ask = "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:supported-report-set/></D:prop></D:propfind>"
        let response = try await share.client.send("PROPFIND", row.target, [("Depth", "0")], text: ask)
        #expect(response.status == 207)
        let element = "<D:supported-report-set>\(row.value)</D:supported-report-set>"
        #expect(response.text.contains("<D:prop>\(element)</D:prop>"), "\(response.text)")
    }
}
