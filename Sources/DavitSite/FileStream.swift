internal import DavitHTTP
internal import DavitServer
internal import DavitSystem

/// Streams stored content through this process. Used by one task at a time.
final class FileStream: BodyStream {
    private let content: any FileContent
    private let work: any BlockingWorkRunner
    private var offset: Int64 = 0

    init(_ content: any FileContent, work: any BlockingWorkRunner) {
        self.content = content
        self.work = work
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        let count = Int(min(Int64(buffer.freeCount), content.length - offset))
        if count == 0 { return }
        var outcome = Self.read(content, at: offset, count: count, isCached: true, into: buffer)
        if outcome == .notCached || outcome == .unknown {
            let (content, offset) = (content, offset)
            let read = await work.run {
                Self.read(content, at: offset, count: count, isCached: false, into: buffer)
            }
            guard let read else { throw .tooBusy }
            outcome = read
        }
        // The file has become shorter or cannot be read. Abort the connection, so that the client can detect
        // the truncation.
        guard case .bytes(let read) = outcome, read > 0 else { throw .disconnected }
        offset += Int64(read)
    }

    private static func read(
        _ content: any FileContent, at offset: Int64, count: Int, isCached: Bool, into buffer: IOBuffer
    ) -> CachedFile.Outcome {
        var outcome = CachedFile.Outcome.unknown
        _ = unsafe buffer.fill { room in
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<count])
            outcome =
                isCached
                ? unsafe CachedFile.readCached(content.descriptor, into: target, offset: offset)
                : unsafe CachedFile.read(content.descriptor, into: target, offset: offset)
            if case .bytes(let read) = outcome { return read }
            return 0
        }
        return outcome
    }
}
