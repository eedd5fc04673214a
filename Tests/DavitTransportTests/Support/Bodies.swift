import DavitHTTP
import DavitSystem
import DavitTransport
import Synchronization

/// A file without a name.
final class TestFile: FileContent {
    let length: Int64
    private let file: FileDescriptor

    /// - Parameter claiming: the length to report, if it differs from the actual one.
    init(_ content: [UInt8], claiming length: Int64? = nil) throws {
        self.length = length ?? Int64(content.count)
        file = try FileDescriptor.unnamed(content)
    }

    var descriptor: Int32 { file.rawValue }
}

/// A stream that delivers the given content in pieces and may fail at the end.
final class PiecewiseStream: BodyStream {
    private var rest: ArraySlice<UInt8>
    private let size: Int
    private let failure: HTTPError?
    /// The declared length, which may be wrong.
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

/// An endless stream that counts how often it is read.
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
