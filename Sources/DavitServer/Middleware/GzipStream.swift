internal import DavitHTTP
internal import DavitZlib

/// Compresses another stream while it is sent. Memory is taken with the first piece: some 100 KiB at most.
final class GzipStream: BodyStream {
    /// Shorter content is compressed in one go.
    static let shortBytes = 64 << 10
    /// What is asked of the other stream at a time.
    private static let inputBytes = 32 << 10
    /// 64 KiB of memory for zlib.
    private static let windowBits: Int32 = 13
    /// After so much of the content what there is of it goes out: the answer begins early, and the size of the rest is
    /// of no importance any more.
    private static let firstBytes = 48 << 10
    /// A call returns when it has made so much, so that the answer begins early,
    private static let pieceBytes = 16 << 10
    /// or when it has taken so much, so that others have their turn: a millisecond of work.
    private static let turnBytes = 256 << 10
    /// Less room is not offered to zlib, which may then never be done with a flush.
    private static let leastRoom = 64

    private enum Phase { case passing, flushing, finishing, ended }

    private let source: any BodyStream
    private let level: Int
    private let expectedBytes: Int?
    private var deflater: Deflater?
    private var phase = Phase.passing
    private var input = IOBuffer(capacity: 0)
    /// Where the bytes of `input` begin that are not compressed yet.
    private var offset = 0
    /// What was fetched until the first bytes went out; nil since then.
    private var fetchedBytes: Int? = 0
    /// All that was fetched is out.
    private var wasFlushed = false
    /// Taken by the last call.
    private(set) var effortBytes = 0
    /// What was made without room for it.
    private var kept = IOBuffer(capacity: leastRoom)

    /// - Parameter expectedBytes: of `source`, if known.
    init(of source: any BodyStream, level: Int, expectedBytes: Int? = nil) {
        self.source = source
        self.level = level
        self.expectedBytes = expectedBytes
    }

    /// All of `bytes` at once; nil if there is no memory.
    static func encode(_ bytes: [UInt8], level: Int, windowBits: Int32 = windowBits) -> [UInt8]? {
        guard
            var deflater = try? Deflater(
                .gzip, level: level, expectedBytes: bytes.count, windowBits: windowBits)
        else {
            return nil
        }
        let buffer = IOBuffer(capacity: deflater.boundBytes(for: bytes.count))
        return unsafe bytes.withUnsafeBytes { source in
            let count = unsafe buffer.fill { unsafe deflater.transform(source, into: $0, .finish).produced }
            return count > 0 ? unsafe buffer.withBytes { unsafe Array($0) } : nil
        }
    }

    var isLive: Bool { source.isLive }

    func begin(on executor: any TaskExecutor) { source.begin(on: executor) }

    func wrapUp() { source.wrapUp() }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        if deflater == nil { try begin() }
        let start = buffer.count
        effortBytes = 0
        while phase != .ended || kept.count > 0 {
            let made = buffer.count - start
            if buffer.freeCount == 0 || made >= Self.pieceBytes { return }
            if made > 0, effortBytes >= Self.turnBytes { return }
            if kept.count > 0 {
                kept.removeFirst(move(to: buffer))
            } else if phase == .passing, offset == input.count {
                // A piece that somebody waits for does not wait for the next one.
                if made > 0, isLive || wasFlushed { return }
                try await fetch()
            } else if buffer.freeCount >= Self.leastRoom {
                effortBytes += compress(into: buffer)
            } else if made > 0 {
                return
            } else {
                effortBytes += compress(into: kept)
            }
        }
    }

    private func begin() throws(HTTPError) {
        do throws(OutOfMemory) {
            deflater = try Deflater(
                .gzip, level: level, expectedBytes: expectedBytes, windowBits: Self.windowBits)
        } catch {
            throw HTTPError(.serviceUnavailable, "There is no memory to compress the content.")
        }
        input = IOBuffer(capacity: Self.inputBytes)
    }

    private func fetch() async throws(HTTPError) {
        input.removeAll()
        offset = 0
        try await source.next(into: input)
        wasFlushed = false
        if input.count == 0 {
            phase = .finishing
        } else if isLive {
            phase = .flushing
        } else if let fetched = fetchedBytes {
            let isFirst = fetched + input.count >= Self.firstBytes
            fetchedBytes = isFirst ? nil : fetched + input.count
            if isFirst { phase = .flushing }
        }
    }

    /// - Returns: how many bytes were taken.
    private func compress(into buffer: IOBuffer) -> Int {
        let flush: Deflater.Flush =
            switch phase {
            case .passing: .none
            case .flushing: .sync
            case .finishing, .ended: .finish
            }
        var progress = Progress()
        let room = buffer.freeCount
        unsafe input.withBytes { bytes in
            _ = unsafe buffer.fill { free in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
                progress = unsafe deflater?.transform(rest, into: free, flush) ?? progress
                return progress.produced
            }
        }
        offset += progress.consumed
        if progress.isAtEnd { phase = .ended }
        if phase == .flushing, offset == input.count, progress.produced < room {
            phase = .passing
            wasFlushed = true
        }
        return progress.consumed
    }

    private func move(to buffer: IOBuffer) -> Int {
        unsafe kept.withBytes { unsafe buffer.append($0) }
    }
}

/// Bytes as a stream.
final class StoredBytes: BodyStream {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        rest = rest.dropFirst(buffer.append(rest))
    }
}
