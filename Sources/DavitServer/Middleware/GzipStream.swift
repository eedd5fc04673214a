internal import DavitHTTP
internal import DavitZlib

/// Compresses another stream while it is sent. Allocates at most about 100 KiB, with the first piece.
final class GzipStream: BodyStream {
    /// Content up to this length is compressed in one call.
    static let shortBytes = 64 << 10
    /// Maximum bytes read from the source at a time.
    private static let inputBytes = 32 << 10
    /// The base-2 logarithm of the window size; with this size, zlib uses 64 KiB of memory.
    private static let windowBits: Int32 = 13
    /// After this many bytes of content, the output is flushed, so that the client receives the beginning early.
    private static let firstBytes = 48 << 10
    /// A call returns after producing this many bytes of output, so that the client receives the beginning early.
    private static let pieceBytes = 16 << 10
    /// A call also returns after consuming this many bytes of input, about a millisecond of work, so that other
    /// requests are not delayed.
    private static let turnBytes = 256 << 10
    /// Minimum output space in bytes to pass to zlib; with less, a flush might never complete.
    private static let leastRoom = 64

    private enum Phase { case passing, flushing, finishing, ended }

    private let source: any BodyStream
    private let level: Int
    private let expectedBytes: Int?
    private var deflater: Deflater?
    private var phase = Phase.passing
    private var input = IOBuffer(capacity: 0)
    /// Offset of the first byte of `input` that has not been compressed.
    private var offset = 0
    /// Bytes fetched before the first flush; nil after it.
    private var fetchedBytes: Int? = 0
    /// Whether all fetched input has been flushed.
    private var wasFlushed = false
    /// Input bytes consumed by the last call.
    private(set) var effortBytes = 0
    /// Output that did not fit into the caller's buffer.
    private var kept = IOBuffer(capacity: leastRoom)

    /// - Parameter expectedBytes: the length of `source`, if known.
    init(of source: any BodyStream, level: Int, expectedBytes: Int? = nil) {
        self.source = source
        self.level = level
        self.expectedBytes = expectedBytes
    }

    /// Compresses `bytes` in one call; returns nil if out of memory.
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

    var flushesImmediately: Bool { source.flushesImmediately }

    func begin(on executor: any TaskExecutor) { source.begin(on: executor) }

    func finishEarly() { source.finishEarly() }

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
                // Do not delay live output until the next piece arrives.
                if made > 0, flushesImmediately || wasFlushed { return }
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
            throw HTTPError(.serviceUnavailable, "Not enough memory to compress the content.")
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
        } else if flushesImmediately {
            phase = .flushing
        } else if let fetched = fetchedBytes {
            let isFirst = fetched + input.count >= Self.firstBytes
            fetchedBytes = isFirst ? nil : fetched + input.count
            if isFirst { phase = .flushing }
        }
    }

    /// Compresses pending input.
    /// - Returns: the number of input bytes consumed.
    private func compress(into buffer: IOBuffer) -> Int {
        let flush: Deflater.Flush =
            switch phase {
            case .passing: .none
            case .flushing: .sync
            case .finishing, .ended: .finish
            }
        var progress = TransformProgress()
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

/// A stream of bytes in memory.
final class StoredBytes: BodyStream {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        rest = rest.dropFirst(buffer.append(rest))
    }
}
