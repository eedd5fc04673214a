import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// Responses to forms about locks, the trash and archives: clients receive the WebDAV response, browsers a
/// redirect to the folder if everything succeeded.
struct FormTrashTests {
    /// The columns of a row. In `form`, `%a` stands for the id of the trashed `/d/a`, whose name is in use
    /// again; `%b` for that of `/e/b`, whose folder is locked; `%f` for that of `/f/x`, whose folder's name
    /// is now a file; and `%t` for the token of a lock on `/l`. `plain` and `browser` are the statuses
    /// without and with `text/html` in Accept.
    typealias Row = (action: String, target: String, form: String, plain: UInt16, browser: UInt16)

    static let rows: [Row] = [
        // Restore a deleted resource.
        ("restore", "/", "id=%a", 201, 303), ("restore", "/d/", "id=%a", 201, 303),
        ("restore", "/", "id=%a&taken=rename", 201, 303), ("restore", "/", "id=%a&taken=replace", 204, 303),
        ("restore", "/", "id=%a&taken=refuse", 412, 412), ("restore", "/", "id=%a&taken=", 400, 400),
        ("restore", "/", "id=%a&taken=RENAME", 400, 400), ("restore", "/", "", 400, 400),
        ("restore", "/", "member=a", 400, 400), ("restore", "/", "id=", 404, 404),
        ("restore", "/", "id=aaaaaaaaaaaaaaaa", 404, 404), ("restore", "/", "id=..%2F..%2Fetc", 404, 404),
        // Missing, repeated and locked entries. If one of two entries does not exist, neither is restored.
        ("restore", "/", "id=%a&id=aaaaaaaaaaaaaaaa", 404, 404), ("restore", "/", "id=%a&id=%a", 201, 303),
        ("restore", "/", "id=%b", 423, 423), ("restore", "/", "id=%a&id=%b", 207, 207),
        ("restore", "/", "id=%f", 409, 409), ("restore", "/none/", "id=%a", 404, 404),
        ("restore", "/l", "id=%a", 405, 405), ("restore", "/", "id=%", 400, 400),
        // Purge an entry. (Without a page there is no confirmation.)
        ("purge", "/", "id=%a", 204, 303), ("purge", "/", "id=%a&id=%b&id=%f", 204, 303),
        ("purge", "/d/", "id=%b&confirmed=yes", 204, 303), ("purge", "/", "", 400, 400),
        ("purge", "/", "id=", 404, 404), ("purge", "/", "id=%a&id=aaaaaaaaaaaaaaaa", 404, 404),
        ("purge", "/", "id=%a&id=%a", 204, 303), ("purge", "/none/", "id=%a", 404, 404),
        ("purge", "/l", "id=%a", 405, 405),
        // Break a lock.
        ("unlock", "/", "member=l&token=%t", 204, 303), ("unlock", "/", "member=l", 400, 400),
        ("unlock", "/", "member=l&token=", 400, 400), ("unlock", "/", "member=%252F&token=%t", 400, 400),
        ("unlock", "/", "member=l%252Fl&token=%t", 400, 400), ("unlock", "/", "token=%t", 409, 409),
        ("unlock", "/", "member=d&token=%t", 409, 409), ("unlock", "/", "member=none&token=%t", 409, 409),
        ("unlock", "/", "member=l&token=urn%3Ax", 409, 409), ("unlock", "/l", "token=%t", 405, 405),
        ("unlock", "/none/", "member=l&token=%t", 404, 404),
        // Without a page there are no archives; invalid forms are reported first.
        ("archive", "/", "member=d", 404, 404), ("archive", "/", "", 400, 400),
        ("archive", "/", "member=", 400, 400), ("archive", "/", "member=..", 400, 400),
        ("archive", "/", "member=%25", 400, 400), ("archive", "/none/", "member=d", 404, 404),
        ("archive", "/l", "member=d", 405, 405),
    ]

    @Test(arguments: [false, true])
    func everyFormReturnsTheExpectedStatus(isBrowser: Bool) async throws {
        for row in Self.rows {
            let share = try await Self.share()
            let before = try share.trash()
            let fields = isBrowser ? ownForm + [("Accept", "text/html,*/*;q=0.8")] : ownForm
            let answer = try await share.share.client.send(
                "POST", "\(row.target)?action=\(row.action)", fields, text: share.filled(row.form))
            let expected = isBrowser ? row.browser : row.plain
            #expect(answer.status == expected, "\(row) \(answer.text)")
            if expected == 303 {
                let count = Set(row.form.split(separator: "&").filter { $0.hasPrefix("id=") }).count
                #expect(
                    answer["Location"] == "\(row.target)?done=\(row.action)&count=\(max(count, 1))", "\(row)")
            }
            // A form that is answered with an error has changed nothing.
            if expected >= 400 { #expect(try share.trash() == before, "\(row)") }
        }
    }

    /// A share with trash entries and locks.
    private static func share() async throws -> Prepared {
        let share = try TestShare.keeping(TemporaryFolder(in: "/dev/shm"))
        var words: [(String, String)] = []
        for (word, folder, name) in [("%a", "/d", "/a"), ("%f", "/f", "/x"), ("%b", "/e", "/b")] {
            _ = try await share.client.send("MKCOL", folder)
            _ = try await share.client.send("PUT", folder + name, text: "old")
            _ = try await share.client.send("DELETE", folder + name)
            words.append((word, share.lastTrash ?? ""))
        }
        _ = try await share.client.send("DELETE", "/f")
        for path in ["/d/a", "/f", "/l"] { _ = try await share.client.send("PUT", path, text: "new") }
        for (word, path) in [("%t", "/l"), ("%e", "/e")] {
            let lock = try await share.client.send("LOCK", path, text: lockBody(scope: "exclusive"))
            words.append((word, String((lock["Lock-Token"] ?? "").dropFirst().dropLast())))
        }
        return Prepared(share: share, words: words)
    }

    private struct Prepared {
        let share: TestShare
        let words: [(String, String)]

        /// Replaces the placeholders in a form with ids and tokens.
        func filled(_ form: String) -> String {
            // A placeholder must be the complete value of a field: the same letters can occur elsewhere, for
            // example as the hexadecimal digits of a percent-encoded byte.
            form.split(separator: "&", omittingEmptySubsequences: false).map { field in
                for (word, value) in words where field.hasSuffix("=\(word)") {
                    return field.dropLast(word.count) + value
                }
                return String(field)
            }.joined(separator: "&")
        }

        func trash() throws -> [String] { try share.trash() }
    }

    @Test(arguments: ["restore", "purge"])
    func formEndsWhenItsClientDisconnects(action: String) async throws {
        let running = Mutex<Task<Void, any Error>?>(nil)
        let share = try TestShare.keeping {
            $0.hooks.completed = { _ in running.withLock { $0?.cancel() } }
        }
        var ids: [String] = []
        for name in ["/a", "/b", "/c"] {
            _ = try await share.client.send("PUT", name, text: "old")
            _ = try await share.client.send("DELETE", name)
            ids.append(share.lastTrash ?? "")
        }
        let (form, isKnown) = (ids.map { "id=\($0)" }.joined(separator: "&"), AsyncLatch())
        let task = Task { @Sendable in
            await isKnown.wait()
            _ = try await share.client.send("POST", "/?action=\(action)", ownForm, text: form)
        }
        running.withLock { $0 = task }
        isKnown.open()
        await #expect(throws: HTTPError.self) { try await task.value }
        #expect(try share.trash().count == 2)
    }

    @Test func formsOnReadOnlySharesAndFromOtherOriginsAreRefused() async throws {
        for action in ["restore", "purge", "unlock", "archive"] {
            let readOnly = try TestShare.keeping { $0.isReadOnly = true }
            let answer = try await readOnly.client.send(
                "POST", "/?action=\(action)", ownForm, text: "id=aaaaaaaaaaaaaaaa&token=urn%3Ax&member=a")
            // Downloading an archive is a read.
            #expect(answer.status == (action == "archive" ? 404 : 403), "\(action)")
            let share = try TestShare.keeping()
            for fields in [[ownForm[1]], [ownForm[1], ("Sec-Fetch-Site", "cross-site")]] {
                let answer = try await share.client.send("POST", "/?action=\(action)", fields, text: "id=x")
                #expect(answer.status == 403, "\(action)")
            }
            let other = try await share.client.send(
                "POST", "/?action=\(action)", [ownForm[0], ("Content-Type", "application/json")], text: "{}")
            #expect(other.status == 415, "\(action)")
        }
    }
}
