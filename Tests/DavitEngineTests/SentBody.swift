import DavitHTTP

/// Content that is received in pieces and counts the bytes that were read.
final class SentBody: RequestBody {
    private let bytes: [UInt8]
    private let pieceLength: Int
    let declaredLength: Int64?
    private(set) var readCount = 0

    /// - Parameter isChunked: Whether the length is not declared.
    init(_ bytes: [UInt8], isChunked: Bool = false, pieceLength: Int = 10_000) {
        self.bytes = bytes
        self.pieceLength = pieceLength
        declaredLength = isChunked ? nil : Int64(bytes.count)
    }

    var isPresent: Bool { declaredLength != 0 }

    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
        let taken = buffer.append(Array(bytes[readCount...].prefix(min(pieceLength, buffer.freeCount))))
        readCount += taken
        return taken
    }
}

/// Returns content that repeats one byte.
func bytes(_ count: Int, of character: Character = "a") -> [UInt8] {
    [UInt8](repeating: character.asciiValue ?? 0, count: count)
}
