/// A parsed session with a server: requests with their expected or recorded responses.
///
/// Both kinds of session share one grammar (`docs/recording.md`): transcripts, which people write, with
/// variables and checks; and recordings, which ``Recorder`` writes, with the actual responses.
package struct Transcript: Sendable {
    package enum Kind: Int, Sendable {
        case expectations = 1
        case recording = 2
    }

    /// A file or folder that must exist before the first request.
    package struct Setup: Hashable, Sendable {
        package enum Content: Hashable, Sendable {
            case folder
            case text(String)
            case fill(UInt8, count: Int)
        }

        /// The path relative to the root; percent-encoded, without leading and trailing slashes.
        package var path: String
        package var content: Content

        package init(path: String, content: Content) {
            self.path = path
            self.content = content
        }
    }

    package var kind: Kind
    /// `Name`, `Client` and the other header lines except `Setup`, in order.
    package var facts: [WireField] = []
    package var setups: [Setup] = []
    package var exchanges: [RecordedExchange] = []

    package init(kind: Kind) { self.kind = kind }

    package subscript(fact name: String) -> String? { facts.first { $0.name == name }?.value }
}

/// A request and its response.
package struct RecordedExchange: Sendable {
    package enum Framing: Hashable, Sendable {
        case none
        /// `Content-Length: 0`.
        case zero
        case length
        /// Chunks of this many bytes.
        case chunked(Int)
    }

    /// The reason why a recorded request cannot be replayed.
    package enum Gap: String, Sendable {
        /// The connection ended inside the request.
        case request
        /// The connection ended inside the response, or the response was not recorded.
        case answer
    }

    package struct Answer: Sendable {
        package var fields: [WireField] = []
        package var content = RecordedContent.bytes([])
    }

    package var title: String
    /// The line number in the file, from 1.
    package var line: Int
    /// In recordings: the position among the requests of all connections.
    package var order = 0
    package var method = ""
    package var target = ""
    /// The minor version of HTTP/1.
    package var minorVersion = 1
    package var fields: [WireField] = []
    package var content = RecordedContent.bytes([])
    package var framing: Framing?
    package var awaitsContinue = false
    /// Whether the client received a final response instead of 100 and sent no content.
    package var isContentWithheld = false
    package var opensConnection = false
    package var waitSeconds = 0
    package var gap: Gap?
    /// The allowed statuses; in a recording, the recorded one.
    package var statuses: [Int] = []
    /// The recorded response; nil in a transcript.
    package var answer: Answer?
    package var checks: [Check] = []
    package var captures: [Capture] = []

    package init(title: String, line: Int) {
        self.title = title
        self.line = line
    }
}

/// The content of a request or a response.
package enum RecordedContent: Hashable, Sendable {
    case bytes([UInt8])
    case fill(UInt8, count: Int)
    /// Content that was too long to record: its length, and its SHA-256 in hexadecimal digits if known.
    case omitted(count: Int64, digest: String?)

    package var count: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .fill(_, let count): Int64(count)
        case .omitted(let count, _): count
        }
    }
}

/// A field line. Each character represents one byte (ISO 8859-1), so that arbitrary bytes are preserved.
package struct WireField: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    package func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }
}

extension [WireField] {
    /// The value of a field, nil if it is missing; the values of repeated fields are joined into one list
    /// (RFC 9110 §5.3).
    package subscript(_ name: String) -> String? {
        let values = filter { $0.isNamed(name) }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

/// Conversion between bytes and characters, one to one.
package enum WireText {
    package static func string(_ bytes: some Sequence<UInt8>) -> String {
        var scalars = String.UnicodeScalarView()
        for byte in bytes { scalars.append(Unicode.Scalar(byte)) }
        return String(scalars)
    }

    package static func bytes(_ text: String) -> [UInt8] {
        text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }
}
