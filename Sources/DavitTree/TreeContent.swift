#if Postgres
internal import DavitBlobs
internal import DavitHTTP
internal import DavitPostgres
internal import DavitServer
internal import DavitStore
internal import Synchronization

/// Content of a share in a database: in memory if it is small, otherwise in segments.
final class TreeContent: FileContent {
    private enum Storage {
        case bytes([UInt8])
        case segments(SegmentMap, TreeDatabase, any BlockingWorkRunner)
    }

    private let storage: Storage

    init(bytes: [UInt8]) { storage = .bytes(bytes) }

    /// - Parameter work: runs calls of the store for responses.
    init(_ segments: SegmentMap, in database: TreeDatabase, work: any BlockingWorkRunner) {
        storage = .segments(segments, database, work)
    }

    var descriptor: Int32 { -1 }

    var length: Int64 {
        switch storage {
        case .bytes(let bytes): Int64(bytes.count)
        case .segments(let segments, _, _): segments.length
        }
    }

    /// The segments; nil for content in memory.
    var segments: SegmentMap? {
        if case .segments(let segments, _, _) = storage { return segments }
        return nil
    }

    func body(from offset: Int64, length: Int64) -> HTTPBody {
        switch storage {
        case .bytes(let bytes): return .bytes(Array(bytes[Int(offset)..<Int(offset + length)]))
        case .segments:
            return .stream(TreeContentStream([.file(offset: offset, length: length)], of: self))
        }
    }

    func body(of segments: [HTTPBody.Segment]) -> HTTPBody {
        .stream(TreeContentStream(segments, of: self))
    }

    /// Appends bytes to `buffer` until it is full. Blocks.
    /// - Returns: the number of bytes; 0 at the end.
    func read(at offset: Int64, into buffer: IOBuffer) throws(StoreError) -> Int {
        guard offset < length else { return 0 }
        switch storage {
        case .bytes(let bytes):
            return buffer.append(Array(bytes[Int(offset)...].prefix(buffer.freeCount)))
        case .segments(let segments, let database, _):
            let reader = SegmentReader(segments, in: database)
            return try reader.read(at: offset, into: buffer)
        }
    }

    /// Reports why content cannot be sent.
    fileprivate func report(_ error: StoreError) {
        if case .segments(_, let database, _) = storage { database.report(error.text) }
    }

    fileprivate var work: (any BlockingWorkRunner)? {
        if case .segments(_, _, let work) = storage { return work }
        return nil
    }

    fileprivate func makeReader() -> SegmentReader? {
        if case .segments(let segments, let database, _) = storage {
            return SegmentReader(segments, in: database)
        }
        return nil
    }
}

/// Reads segments, and keeps the last one open.
///
/// The conformance is unchecked: calls do not overlap.
final class SegmentReader: @unchecked Sendable {
    private let segments: SegmentMap
    private let database: TreeDatabase
    private var open: (key: BlobKey, file: BlobFile)?
    /// How many of the following objects are fetched from a slow store while one is sent.
    private static let prefetchCount = 3

    init(_ segments: SegmentMap, in database: TreeDatabase) {
        self.segments = segments
        self.database = database
    }

    /// Returns where the bytes from a position on are, as far as they are in one object; nil at the end.
    func piece(at offset: Int64) throws(StoreError) -> FilePiece? {
        guard let piece = segments.piece(from: offset) else { return nil }
        return FilePiece(try file(of: piece), offset: piece.objectStart, length: piece.length)
    }

    private func file(of piece: BlobSegment) throws(StoreError) -> BlobFile {
        if let open, open.key == piece.object { return open.file }
        let file: BlobFile
        do throws(BlobError) { file = try database.blobs.open(piece.object, digest: piece.digest) } catch {
            throw database.failure(reading: error)
        }
        open = (piece.object, file)
        var end = piece.end
        for _ in 0..<Self.prefetchCount {
            guard let next = segments.piece(from: end) else { break }
            database.blobs.prefetch(next.object, digest: next.digest)
            end = next.end
        }
        return file
    }

    func read(at offset: Int64, into buffer: IOBuffer) throws(StoreError) -> Int {
        guard let piece = segments.piece(from: offset) else { return 0 }
        let file = try file(of: piece)
        let count = Int(min(Int64(buffer.freeCount), piece.length))
        let read: Int
        do throws(BlobError) {
            read = try file.read(at: piece.objectStart, count: count, into: buffer)
        } catch {
            throw StoreError(error)
        }
        // An object never changes. So it was damaged.
        if read == 0 { throw .failed(reason: "object \(piece.object.text) is shorter than recorded") }
        return read
    }
}

/// Sends content piece by piece.
private final class TreeContentStream: BodyStream {
    private let content: TreeContent
    private let reader: SegmentReader?
    private var rest: ArraySlice<HTTPBody.Segment>
    /// How much of the first of ``rest`` has been sent.
    private var sent: Int64 = 0
    let length: Int64?

    init(_ segments: [HTTPBody.Segment], of content: TreeContent) {
        self.content = content
        reader = content.makeReader()
        rest = segments[...]
        length = HTTPBody.segments(content, segments).length
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        while let segment = rest.first {
            switch segment {
            case .bytes(let bytes):
                sent += Int64(buffer.append(Array(bytes[Int(sent)...])))
                if sent == Int64(bytes.count) { endPiece() }
            case .file(let offset, let length):
                if length > sent {
                    sent += try await read(at: offset + sent, upTo: length - sent, into: buffer)
                }
                if sent == length { endPiece() }
            }
            if buffer.count > 0 { return }
        }
    }

    func nextFile() async throws(HTTPError) -> FilePiece? {
        guard case .file(let offset, let length)? = rest.first, length > sent, let reader else { return nil }
        let position = offset + sent
        let found = try await result { () throws(StoreError) in try reader.piece(at: position) }
        guard let found else { return nil }
        let piece = FilePiece(
            found.content, offset: found.offset, length: min(found.length, length - sent))
        sent += piece.length
        if sent == length { endPiece() }
        return piece
    }

    private func endPiece() {
        rest = rest.dropFirst()
        sent = 0
    }

    private func read(
        at offset: Int64, upTo count: Int64, into buffer: IOBuffer
    ) async throws(HTTPError) -> Int64 {
        let piece = IOBuffer(capacity: Int(min(count, Int64(buffer.freeCount))))
        let (content, reader) = (content, reader)
        let read = try await result { () throws(StoreError) in
            if let reader { return try reader.read(at: offset, into: piece) }
            return try content.read(at: offset, into: piece)
        }
        unsafe piece.withBytes { _ = unsafe buffer.append($0) }
        return Int64(read)
    }

    /// Runs calls of the store on another thread, if they can block.
    private func result<T: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> T
    ) async throws(HTTPError) -> T {
        let outcome: Result<T, StoreError>
        if reader != nil, let work = content.work {
            let result = await work.run { () -> Result<T, StoreError> in
                do throws(StoreError) { return .success(try body()) } catch { return .failure(error) }
            }
            guard let result else { throw HTTPError(.serviceUnavailable) }
            outcome = result
        } else {
            do throws(StoreError) { outcome = .success(try body()) } catch { outcome = .failure(error) }
        }
        switch outcome {
        case .success(let value): return value
        case .failure(let error):
            content.report(error)
            // Once the head has been sent, this aborts the connection, so that the client can detect the truncation.
            throw HTTPError(error == .busy ? .serviceUnavailable : .badGateway)
        }
    }
}

extension StoreError {
    init(_ error: BlobError) {
        switch error {
        case .outOfSpace: self = .outOfSpace
        case .unavailable: self = .busy
        case .notFound: self = .failed(reason: "an object with content is missing")
        case .inUse: self = .failed(reason: "another process uses the folder for copies of objects")
        case .failed(let reason): self = .failed(reason: reason)
        }
    }
}

extension BlobKey {
    init(_ uuid: PostgresUUID) { self.init(high: uuid.high, low: uuid.low) }
    var uuid: PostgresUUID { PostgresUUID(high: high, low: low) }
}
#endif
