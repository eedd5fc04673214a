import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// Every way to store content on a volume that has enough space only if trash entries are evicted. Requires
/// permission to mount.
@Suite(.serialized)
struct TrashEvictionTests {
    enum Way: String, CaseIterable, Codable {
        case put, chunkedPut, upload, uploadOfUnknownLength, chunkedUpload, tus, copy, moveFromElsewhere
    }

    private static let count = 5 << 20

    /// In a process of its own, like ``TrashEvictionByBytesTests``.
    @Test(arguments: Way.allCases)
    func trashIsEvictedToStoreContent(_ way: Way) async {
        await #expect(processExitsWith: .success) { [way] in
            try await TrashEvictionTests().storeContentInPlaceOfTrash(way)
        }
    }

    private func storeContentInPlaceOfTrash(_ way: Way) async throws {
        let folder = try TemporaryFolder()
        let elsewhere = try TestShare.keeping(folder)
        guard elsewhere.shell("mkdir v && mount -t tmpfs -o size=8m tmpfs v") == 0 else { return }
        defer { #expect(elsewhere.shell("umount -l v") == 0) }
        let share = try TestShare.keeping(folder)
        let content = bytes(Self.count, of: "n")
        #expect(share.shell("mkdir v/old; head -c \(Self.count) /dev/zero >v/old/f") == 0)
        if way == .copy || way == .moveFromElsewhere {
            #expect(share.shell("yes n | tr -d '\\n' | head -c \(Self.count) >source") == 0)
        }
        // The entry is a collection whose size has not been measured yet.
        #expect(try await share.client.send("DELETE", "/v/old").status == 204)
        #expect(try share.trash() == ["deleted /v/old/"])

        let response = try await send(content, way, to: share)
        #expect(response.status == 201, "\(response.text)")
        #expect(try await share.client.send("GET", "/v/new").body == content)
        #expect(try share.trash() == [])
        #expect(share.shell("[ $(ls -A v | wc -l) = 2 ] && [ $(ls -A v/.davit-* | wc -l) = 0 ]") == 0)
    }

    private func send(
        _ content: [UInt8], _ way: Way, to share: TestShare
    ) async throws -> TestResponse {
        let client = share.client
        func chunked() -> GatedBody { GatedBody(content, then: [], declared: nil) }
        switch way {
        case .put: return try await client.send("PUT", "/v/new", body: content)
        case .chunkedPut: return try await client.send("PUT", "/v/new", body: chunked())
        case .upload, .uploadOfUnknownLength, .chunkedUpload:
            let length = way == .upload ? [("Upload-Length", "\(content.count)")] : []
            let upload = try await share.createUpload("/v/new", length)
            let fields = [TestShare.partial, ("Upload-Offset", "0"), ("Upload-Complete", "?1")]
            if way == .chunkedUpload {
                return try await client.send("PATCH", upload, fields, body: chunked())
            }
            return try await client.send("PATCH", upload, fields, body: content)
        case .tus:
            return try await client.send(
                "POST", "/v/",
                [
                    TestShare.tus, TestShare.offsetType, ("Upload-Length", "\(content.count)"),
                    TusUploadTests.metadata([("filename", "new")]),
                ], body: content)
        case .copy: return try await client.send("COPY", "/source", [("Destination", "/v/new")])
        case .moveFromElsewhere:
            return try await client.send("MOVE", "/source", [("Destination", "/v/new")])
        }
    }

    /// Entries are kept if evicting them would not free enough space.
    @Test func trashIsKeptIfEvictionDoesNotSuffice() async throws {
        let folder = try TemporaryFolder()
        let elsewhere = try TestShare.keeping(folder)
        guard elsewhere.shell("mkdir v && mount -t tmpfs -o size=8m tmpfs v") == 0 else { return }
        defer { #expect(elsewhere.shell("umount -l v") == 0) }
        let share = try TestShare.keeping(folder)
        #expect(share.shell("head -c 3000000 /dev/zero >v/a") == 0)
        #expect(try await share.client.send("DELETE", "/v/a").status == 204)
        let refused = try await share.client.send(
            "PUT", "/v/new", [("Upload-Complete", "?0"), ("Upload-Length", "9000000")], body: [])
        #expect(refused.status == 507)
        #expect(try share.trash() == ["deleted /v/a 3000000"])
    }

    /// Evicting entries on another volume would free no space on this one.
    @Test func trashOfAnotherVolumeIsKept() async throws {
        let folder = try TemporaryFolder()
        let elsewhere = try TestShare.keeping(folder)
        guard elsewhere.shell("mkdir v && mount -t tmpfs -o size=8m tmpfs v") == 0 else { return }
        defer { #expect(elsewhere.shell("umount -l v") == 0) }
        let share = try TestShare.keeping(folder)
        #expect(share.shell("head -c 3000000 /dev/zero >v/a; head -c 9000000 /dev/zero >b") == 0)
        for name in ["/v/a", "/b"] { #expect(try await share.client.send("DELETE", name).status == 204) }
        #expect(try await share.client.send("PUT", "/v/new", body: bytes(9_000_000, of: "n")).status == 507)
        #expect(try share.trash() == ["deleted /v/a 3000000", "deleted /b 9000000"])
    }
}
