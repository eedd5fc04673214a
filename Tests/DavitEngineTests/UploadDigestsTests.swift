import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

#if TLS
/// Digests of the pieces of an upload and of its complete content.
struct UploadDigestsTests {
    static let hello = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"

    @Test func pieceWithAWrongDigestIsDiscarded() async throws {
        let share = try TestShare()
        let upload = try await share.createUpload("/a")
        #expect(
            try await share.append("hello", to: upload, at: 0, [("Content-Digest", Self.hello)]).status == 204
        )
        let wrong = try await share.append("jello", to: upload, at: 5, [("Content-Digest", Self.hello)])
        #expect(wrong.status == 400)
        #expect(wrong.text.contains("digest-mismatch"))
        #expect(try await share.offset(of: upload) == 5)
        #expect(
            try await share.append("hello", to: upload, at: 5, isLast: true, [("Content-Digest", Self.hello)])
                .status
                == 201)
        #expect(try await share.text("/a") == "hellohello")
    }

    /// A piece with a digest is not kept if its connection is aborted.
    @Test func abortedPieceWithADigestIsDiscarded() async throws {
        let share = try TestShare()
        let upload = try await share.createUpload("/a")
        let body = GatedBody(bytes(2 << 20), then: nil, declared: 3 << 20)
        await #expect(throws: HTTPError.self) {
            try await share.client.send(
                "PATCH", upload,
                [
                    TestShare.partial, ("Upload-Offset", "0"), ("Upload-Complete", "?0"),
                    ("Content-Digest", Self.hello),
                ], body: body)
        }
        #expect(try await share.offset(of: upload) == 0)
    }

    @Test(arguments: [true, false])
    func wholeContentIsVerifiedOnCompletion(isRight: Bool) async throws {
        let share = try TestShare()
        let upload = try await share.createUpload("/a", [("Repr-Digest", Self.hello)])
        #expect(try await share.append("hel", to: upload, at: 0).status == 204)
        let last = try await share.append(isRight ? "lo" : "p!", to: upload, at: 3, isLast: true)
        #expect(last.status == (isRight ? 201 : 400))
        if isRight {
            let found = try await share.client.send("GET", "/a", [("Want-Repr-Digest", "sha-256=1")])
            #expect(found["Repr-Digest"] == Self.hello)
        } else {
            #expect(last.text.contains("digest-mismatch"))
            // The upload is removed, because it could never be completed.
            #expect(try await share.offset(of: upload) == nil)
            #expect(share.names() == [])
        }
    }

    /// After a restart, the digest computed so far is lost, and the bytes are read again.
    @Test func wholeContentIsVerifiedAfterARestart() async throws {
        let (folder, store) = (try TemporaryFolder(), MemoryStateStore())
        let upload = try await TestShare(folder, state: store).createUpload(
            "/a", [("Repr-Digest", Self.hello)])
        #expect(try await TestShare(folder, state: store).append("hel", to: upload, at: 0).status == 204)
        let share = try TestShare(folder, state: store)
        #expect(try await share.append("lo", to: upload, at: 3, isLast: true).status == 201)
    }

    // MARK: Digests in the last request

    static let other = "sha-256=:GHybzuuRnhs+bSD6UOyr99nVC1ND6Pmj2RKrsTkpEC4=:"
    static let hel = "sha-256=:1qgfIku/L3wiut29XUBzDrIM+ws9dOEMq2F4ghTKzrE=:"
    static let lo = "sha-256=:kpSrOAOfYNLsU4IvtGtSxmOvfqR49NF79D2kTt5eFmw=:"

    /// Digests in the last request; digests sent when the upload was created; the status.
    static let ends: [(fields: [(String, String)], before: [(String, String)], status: UInt16)] = [
        ([("Repr-Digest", hello)], [], 201),
        ([("Repr-Digest", other)], [], 400),
        ([("Repr-Digest", "sha-512=:\(UploadDigestTests.Short.sha512):")], [], 201),
        ([("Repr-Digest", "sha-512=:\(UploadDigestTests.Short.sha512):, \(other)")], [], 400),
        ([("OC-Checksum", "MD5:\(UploadDigestTests.Short.md5)")], [], 201),
        ([("OC-Checksum", "MD5:\(UploadDigestTests.Short.sha1.prefix(32))")], [], 400),
        // Both digests are verified, whether they were sent with the creation or with the last request.
        ([("Repr-Digest", hello)], [("Repr-Digest", hello)], 201),
        ([("Repr-Digest", other)], [("Repr-Digest", hello)], 400),
        ([("Repr-Digest", hello)], [("Repr-Digest", other)], 400),
        ([("Repr-Digest", hello)], [("OC-Checksum", "SHA1:\(UploadDigestTests.Short.sha1)")], 201),
        // RFC 9530 §2: unknown algorithms are ignored.
        ([("Repr-Digest", "crc32c=:AAAAAA==:")], [], 201),
    ]

    @Test(arguments: ends, [false, true])
    func digestsOfTheLastRequestAreVerified(
        row: (fields: [(String, String)], before: [(String, String)], status: UInt16), isTus: Bool
    ) async throws {
        for hasDigests in [false, true] {
            let share = try TestShare()
            func send(_ text: String, at offset: Int, isLast: Bool, _ fields: [(String, String)]) async throws
                -> TestResponse
            {
                var fields = fields
                if hasDigests { fields.append(("Content-Digest", isLast ? Self.lo : Self.hel)) }
                return isTus
                    ? try await TusUploadTests.patch(share, upload, offset, text, fields)
                    : try await share.append(text, to: upload, at: offset, isLast: isLast, fields)
            }
            let upload = try await share.createUpload("/a", [("Upload-Length", "5")] + row.before)
            // This digest is ignored, because the part is not the last one.
            #expect(try await send("hel", at: 0, isLast: false, [("Repr-Digest", Self.other)]).status == 204)
            let last = try await send("lo", at: 3, isLast: true, row.fields)
            #expect(last.status == (isTus && row.status == 201 ? 204 : row.status))
            if row.status == 201 {
                #expect(try await share.text("/a") == "hello")
            } else {
                #expect(last.text.contains("digest-mismatch"))
                #expect(try await share.offset(of: upload) == nil)
                #expect(share.names() == [] && !share.state.hasUploads)
            }
        }
    }

    /// The digest is stored with the content; a malformed one is refused before any bytes are stored.
    @Test func digestOfTheLastRequestIsStored() async throws {
        let share = try TestShare { $0.digestLimitBytes = 0 }
        let upload = try await share.createUpload("/a")
        let malformed = try await share.append("hello", to: upload, at: 0, [("Repr-Digest", "sha-256=x")])
        #expect(malformed.status == 400 && malformed.text.contains("digest-malformed"))
        #expect(try await share.offset(of: upload) == 0)
        let done = try await share.append(
            "hello", to: upload, at: 0, isLast: true, [("Repr-Digest", Self.hello)])
        #expect(done.status == 201)
        let found = try await share.client.send("GET", "/a", [("Want-Repr-Digest", "sha-256=1")])
        #expect(found["Repr-Digest"] == Self.hello)
    }

    /// A byte is corrupted while the server is not running.
    @Test func corruptionOnDiskIsDetected() async throws {
        let (folder, store) = (try TemporaryFolder(), MemoryStateStore())
        let first = try TestShare(folder, state: store)
        let upload = try await first.createUpload("/a")
        #expect(
            try await first.append("hel", to: upload, at: 0, [("Content-Digest", Self.hel)]).status == 204)
        #expect(first.shell("printf j | dd of=$(ls -A) conv=notrunc") == 0)
        let share = try TestShare(folder, state: store)
        let last = try await share.append(
            "lo", to: upload, at: 3, isLast: true, [("Content-Digest", Self.lo), ("Repr-Digest", Self.hello)])
        #expect(last.status == 400 && last.text.contains("digest-mismatch"))
        #expect(share.names() == [])
    }

    /// The digest is computed while the pieces arrive, even if pieces or completions are refused in between.
    /// The bytes are not read again, which the test detects by modifying them.
    @Test func runningDigestAvoidsASecondRead() async throws {
        let share = try TestShare()
        #expect(try await share.client.send("PUT", "/a", text: "old").status == 201)
        let upload = try await share.createUpload("/a")
        #expect(
            try await share.append("hel", to: upload, at: 0, [("Content-Digest", Self.hel)]).status == 204)
        #expect(try await share.append("p!", to: upload, at: 3, [("Content-Digest", Self.lo)]).status == 400)
        #expect(share.shell("printf j | dd of=$(ls -A | grep davit) conv=notrunc") == 0)
        let lock = try await share.client.send("LOCK", "/a", text: lockBody(scope: "exclusive"))
        let whole = [("Repr-Digest", Self.hello)]
        #expect(try await share.append("lo", to: upload, at: 3, isLast: true, whole).status == 423)
        let token = try #require(lock["Lock-Token"])
        let done = try await share.append(
            "", to: upload, at: 5, isLast: true, whole + [("If", "(\(token))")])
        #expect(done.status == 204)
        #expect(try await share.text("/a") == "jello")
    }

    /// RFC 9530 §4: while the pieces arrive, the digest of the complete content is computed with the supported
    /// algorithm that the client prefers, so the bytes are not read again.
    @Test func preferredDigestIsComputedWhileReceiving() async throws {
        let share = try TestShare()
        let upload = try await share.createUpload(
            "/a", [("Want-Repr-Digest", "crc32c=9, adler=5, sha-256=1")])
        #expect(
            try await share.append("hel", to: upload, at: 0, [("Content-Digest", Self.hel)]).status == 204)
        #expect(share.shell("printf j | dd of=$(ls -A | grep davit) conv=notrunc") == 0)
        let last = try await share.append(
            "lo", to: upload, at: 3, isLast: true, [("Repr-Digest", "adler=:BiwCFQ==:")])
        #expect(last.status == 201)
        // The response contains the digest.
        #expect(last["Repr-Digest"] == "adler=:BiwCFQ==:")
        #expect(try await share.text("/a") == "jello")
    }
}
#endif
