import DavitEngine
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// Pages of other origins cannot read the events, so they must not use up the streams of clients that can.
struct CrossOriginEventTests {
    typealias Row = (fields: [(String, String)], status: UInt16)

    static let rows: [Row] = [
        // Non-browser clients, and this server's own pages (Fetch Metadata §2.2).
        ([], 200), ([("Sec-Fetch-Site", "same-origin")], 200), ([("Sec-Fetch-Site", "none")], 200),
        ([("Origin", "http://localhost")], 200),
        // Images and scripts in pages of other sites, and links from them, are refused: an event stream is
        // not a page.
        (
            [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")],
            403
        ),
        ([("Sec-Fetch-Site", "same-site"), ("Origin", "http://localhost:3000")], 403),
        (
            [
                ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"),
                ("Sec-Fetch-Dest", "document"),
            ],
            403
        ),
        ([("Origin", "http://evil.example")], 403), ([("Origin", "null")], 403),
        // Pages of `https://app.example` may use the share, but not those of a longer host name.
        ([("Sec-Fetch-Site", "cross-site"), ("Origin", "https://app.example")], 200),
        ([("Sec-Fetch-Site", "cross-site"), ("Origin", "https://app.example.evil.example")], 403),
    ]

    @Test(arguments: rows)
    func crossOriginRequestsAreRefused(row: Row) async throws {
        let share = try TestShare.live { $0.pageOrigins = ["https://app.example"] }
        for method in ["GET", "HEAD"] {
            let response = try await share.client.begin(method, "/?events", row.fields)
            #expect(response.status.code == row.status, "\(method)")
        }
    }
}
