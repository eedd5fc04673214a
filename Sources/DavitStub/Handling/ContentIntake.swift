internal import DavitHTTP
internal import DavitServer

/// Receives the content of a request completely, but keeps only its beginning.
enum ContentIntake {
    /// What rules need in addition to the content itself.
    struct Needs {
        var sha256 = false
        var digests = false

        init(_ rules: [CompiledRule]) {
            for condition in rules.lazy.flatMap({ $0.conditions + $0.checks }) {
                if condition.needsSHA256 { sha256 = true }
                if condition.needsDigests { digests = true }
            }
        }
    }

    private static let bufferBytes = 64 << 10

    /// - Throws: the error of the connection.
    static nonisolated(nonsending) func receive(
        _ request: HTTPRequest, _ needs: Needs
    ) async throws(HTTPError) -> ReceivedContent {
        var content = ReceivedContent()
        if let type = request.contentType {
            content.type = type.essence
            content.boundary = type.parameters["boundary"].map { String(decoding: $0, as: UTF8.self) }
        }
        let claims = needs.digests ? claims(of: request) : .success([])
        let running = needs.sha256 ? RunningDigest(.sha256) : nil
        var check: DigestCheck?
        if case .success(let digests) = claims { check = DigestCheck(digests) }
        let buffer = IOBuffer(capacity: bufferBytes)
        while try await request.body.read(into: buffer) > 0 {
            content.length += Int64(buffer.count)
            let room = ReceivedContent.keptBytes - content.bytes.count
            unsafe buffer.withBytes { bytes in
                unsafe content.bytes.append(contentsOf: bytes.prefix(room))
                if let running { unsafe running.update(bytes) }
            }
            check?.update(buffer)
            buffer.removeAll()
        }
        content.sha256 = running?.finish()?.bytes
        switch claims {
        case .failure: content.digestProblem = "a digest is malformed"
        case .success:
            content.hasDigest = check != nil
            if let check, !check.isRight() { content.digestProblem = "a digest does not match the content" }
        }
        return content
    }

    /// Returns the digests of the content in the fields.
    private static func claims(of request: HTTPRequest) -> Result<[ContentDigest], DigestError> {
        var found: [ContentDigest] = []
        do throws(DigestError) {
            for name in ["Content-Digest", "Repr-Digest"] {
                guard let value = request.fields[name] else { continue }
                found += try DigestField.parse(Array(value.utf8).span)
            }
            if let value = request.fields["OC-Checksum"] {
                found += try ChecksumList.parse(Array(value.utf8).span)
            }
            if let value = request.fields["Content-MD5"] {
                guard let bytes = Base64.decode(Array(value.utf8).span), bytes.count == 16 else {
                    throw .malformed
                }
                found.append(ContentDigest(.md5, bytes))
            }
            // RFC 3230, the predecessor of RFC 9530: `SHA-256=` and Base64.
            for part in request.fields["Digest"]?.split(separator: ",") ?? [] {
                let words = part.split(separator: "=", maxSplits: 1).map(String.init)
                let key = words.first?.lowercased().filter { $0 != " " }
                guard let algorithm = DigestAlgorithm.allCases.first(where: { "\($0.key)" == key }),
                    words.count == 2
                else { continue }
                guard let bytes = Base64.decode(Array(words[1].utf8).span), bytes.count == algorithm.byteCount
                else { throw .malformed }
                found.append(ContentDigest(algorithm, bytes))
            }
            return .success(found)
        } catch {
            return .failure(error)
        }
    }
}
