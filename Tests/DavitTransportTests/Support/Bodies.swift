import DavitHTTP
import DavitSystem
import DavitTransport
import Synchronization

/// A file that has no name any more.
final class TestFile: FileContent {
    let length: Int64
    private let file: FileDescriptor

    /// - Parameter claiming: the length it pretends to have.
    init(_ content: [UInt8], claiming length: Int64? = nil) throws {
        self.length = length ?? Int64(content.count)
        file = try FileDescriptor.unnamed(content)
    }

    var descriptor: Int32 { file.rawValue }
}

/// A stream of given content in pieces, which may fail in the end.
final class Pieces: BodyStream {
    private var rest: ArraySlice<UInt8>
    private let size: Int
    private let failure: HTTPError?
    /// What it says, which need not be true.
    let length: Int64?

    init(_ content: [UInt8], of size: Int, failure: HTTPError? = nil, length: Int? = nil) {
        rest = content[...]
        self.size = size
        self.failure = failure
        self.length = length.map { Int64($0) }
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        if rest.isEmpty, let failure { throw failure }
        rest = rest.dropFirst(buffer.append(Array(rest.prefix(size))))
    }
}

/// An endless stream that counts how often it is asked.
final class AskedStream: Sendable {
    static let pieceSize = 32 * 1024
    private let asked = Atomic<Int>(0)

    var count: Int { asked.load(ordering: .relaxed) }

    var body: any BodyStream { Endless(self) }

    private final class Endless: BodyStream {
        private let owner: AskedStream
        private let piece = [UInt8](repeating: 0x61, count: AskedStream.pieceSize)

        init(_ owner: AskedStream) { self.owner = owner }

        func next(into buffer: IOBuffer) async throws(HTTPError) {
            owner.asked.add(1, ordering: .relaxed)
            _ = buffer.append(piece)
        }
    }
}
