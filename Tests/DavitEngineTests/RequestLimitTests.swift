import DavitEngine
import DavitHTTP
import DavitJournal
import DavitServer
import DavitStore
import DavitTesting
import Testing

/// Limits of what one request can cause the server to read, expand or store: at the limit, and one above it.
struct RequestLimitTests {
    private static func repeated(_ text: String, _ count: Int) -> String {
        String(repeating: text, count: count)
    }

    // MARK: Forms

    private static func mkcol(_ rest: String) -> [UInt8] { Array(("name=n&" + rest).utf8) }

    @Test func formsAreLimited() async throws {
        for (count, status) in [(4 << 20, 201), (4 << 20 + 1, 413)] as [(Int, UInt16)] {
            let share = try TestShare()
            let form = Self.mkcol("p=" + Self.repeated("x", count - "name=n&p=".utf8.count))
            #expect(form.count == count)
            let response = try await share.client.send("POST", "/?action=mkcol", ownForm, body: form)
            #expect(response.status == status)
        }
    }

    @Test func fieldsOfFormsAreLimited() async throws {
        for (count, status) in [(100_000, 201), (100_001, 413)] as [(Int, UInt16)] {
            let share = try TestShare()
            let form = Self.mkcol(Self.repeated("p&", count - 1))
            let response = try await share.client.send("POST", "/?action=mkcol", ownForm, body: form)
            #expect(response.status == status)
        }
    }

    @Test func partsOfFormsAreLimited() async throws {
        let head = "---x-\r\nContent-Disposition: form-data; name="
        for (count, status) in [(100_000, 201), (100_001, 413)] as [(Int, UInt16)] {
            let share = try TestShare()
            let parts = Self.repeated("\(head)p\r\n\r\n\r\n", count - 1)
            let form = "\(head)name\r\n\r\nn\r\n\(parts)---x---\r\n"
            let response = try await share.client.send(
                "POST", "/?action=mkcol", FormUploadTests.fields, text: form)
            #expect(response.status == status)
        }
    }

    @Test func fieldBytesInFormsWithFilesAreLimited() async throws {
        for (count, status) in [(65_536, 201), (65_537, 413)] as [(Int, UInt16)] {
            let share = try TestShare()
            let form = FormUploadTests.form(.field("name", "n"), .field("p", Self.repeated("x", count)))
            let response = try await share.client.send(
                "POST", "/?action=mkcol", FormUploadTests.fields, body: form)
            #expect(response.status == status)
        }
    }
}
