internal import DavitHTTP

/// An error in the syntax of a transcript.
package struct TranscriptError: Error, Hashable, Sendable {
    /// The line number, from 1.
    package var line: Int
    package var problem: String
}

/// Parses a transcript or a recording, in pieces of any size.
package struct TranscriptParser {
    /// The message to which content lines belong.
    private enum Part { case request, answer }

    private var unread: [UInt8] = []
    private var line = 0
    private var transcript: Transcript?
    private var exchange: RecordedExchange?
    private var part = Part.request
    private var hasRequestLine = false
    private var content = ContentLines()

    package init() {}

    /// Parses the next bytes of the file.
    package mutating func feed(_ bytes: some Sequence<UInt8>) throws(TranscriptError) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                try takeLine()
            } else {
                unread.append(byte)
            }
        }
    }

    /// Ends parsing. Must be called once, at the end of the file.
    package mutating func finish() throws(TranscriptError) -> Transcript {
        if !unread.isEmpty { try takeLine() }
        try endExchange()
        guard let transcript else { throw TranscriptError(line: 1, problem: "the file is empty") }
        return transcript
    }

    /// Parses a complete file.
    package static func parse(_ bytes: [UInt8]) throws(TranscriptError) -> Transcript {
        var parser = TranscriptParser()
        try parser.feed(bytes)
        return try parser.finish()
    }

    /// Whether the bytes begin like a transcript.
    package static func isTranscript(_ bytes: [UInt8]) -> Bool { bytes.starts(with: RecordingText.mark.utf8) }

    private mutating func takeLine() throws(TranscriptError) {
        line += 1
        let bytes = unread
        unread.removeAll(keepingCapacity: true)
        guard transcript != nil else { return try begin(bytes) }
        switch bytes.first {
        case nil, UInt8(ascii: "#"): return
        case UInt8(ascii: "=") where bytes.starts(with: "===".utf8): try beginExchange(bytes)
        case _ where exchange == nil: try takeFact(bytes)
        case UInt8(ascii: ">"): try takeRequest(bytes)
        case UInt8(ascii: "<"): try takeAnswer(bytes)
        case UInt8(ascii: "|"): try takeContent { $0.add(line: Self.text(of: bytes)) }
        case UInt8(ascii: ":"):
            guard let raw = RecordingText.unescape(Self.text(of: bytes)) else {
                throw problem("invalid escape sequence")
            }
            try takeContent { $0.add(raw: raw) }
        case UInt8(ascii: "~"): try takeManner(bytes)
        case UInt8(ascii: "?"): try takeCheck(bytes)
        case UInt8(ascii: "!"):
            guard let capture = Capture(parsing: String(decoding: Self.text(of: bytes), as: UTF8.self)) else {
                throw problem("invalid capture")
            }
            exchange?.captures.append(capture)
        default: throw problem("the line begins with an unknown character")
        }
    }

    private func problem(_ text: String) -> TranscriptError { TranscriptError(line: line, problem: text) }

    /// Returns the text after the first character and, if present, one space.
    private static func text(of line: [UInt8]) -> ArraySlice<UInt8> {
        let rest = line.dropFirst()
        return rest.first == UInt8(ascii: " ") ? rest.dropFirst() : rest
    }

    // MARK: Before the first request

    private mutating func begin(_ bytes: [UInt8]) throws(TranscriptError) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix(RecordingText.mark), let version = Int(text.dropFirst(RecordingText.mark.count)),
            let kind = Transcript.Kind(rawValue: version)
        else { throw problem("the first line must be \(RecordingText.mark)1 or 2") }
        transcript = Transcript(kind: kind)
    }

    private mutating func takeFact(_ bytes: [UInt8]) throws(TranscriptError) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let colon = text.firstIndex(of: ":") else { throw problem("invalid header line") }
        let name = String(text[..<colon])
        let value = String(text[text.index(after: colon)...].drop { $0 == " " })
        guard name == "Setup" else {
            transcript?.facts.append(WireField(name: name, value: value))
            return
        }
        let setup = try setup(value)
        transcript?.setups.append(setup)
    }

    private func setup(_ text: String) throws(TranscriptError) -> Transcript.Setup {
        var words = Words(text)
        let kind = words.next()
        guard let path = words.next().map(String.init) else { throw problem("missing path in the setup") }
        switch (kind, words.next()) {
        case ("dir", nil): return Transcript.Setup(path: path, content: .folder)
        case ("file", "text"): return Transcript.Setup(path: path, content: .text(words.rest))
        case ("file", "fill"):
            guard let (byte, count) = Self.fill(&words) else { break }
            return Transcript.Setup(path: path, content: .fill(byte, count: count))
        default: break
        }
        throw problem("invalid setup")
    }

    /// Parses `0xNN COUNT`.
    private static func fill(_ words: inout Words) -> (UInt8, Int)? {
        guard let byte = words.next(), byte.hasPrefix("0x"), let value = UInt8(byte.dropFirst(2), radix: 16),
            let count = words.lastNumber(), count >= 0
        else { return nil }
        return (value, count)
    }

    // MARK: Requests and responses

    private mutating func beginExchange(_ bytes: [UInt8]) throws(TranscriptError) {
        try endExchange()
        let title = String(decoding: bytes.dropFirst(3).drop { $0 == 32 }, as: UTF8.self)
        var exchange = RecordedExchange(title: title, line: line)
        if transcript?.kind == .recording {
            guard let order = title.split(separator: " ").first.flatMap({ Int($0) }) else {
                throw problem("the title of a recorded request must begin with its number")
            }
            exchange.order = order
        }
        self.exchange = exchange
        part = .request
        hasRequestLine = false
        content = ContentLines()
    }

    private mutating func endExchange() throws(TranscriptError) {
        guard exchange != nil else { return }
        storeContent()
        guard let done = exchange else { return }
        guard hasRequestLine else { throw TranscriptError(line: done.line, problem: "missing request line") }
        transcript?.exchanges.append(done)
        exchange = nil
    }

    /// Assigns the content lines so far to the request or the response.
    private mutating func storeContent() {
        guard let bytes = content.bytes else { return }
        set(.bytes(bytes))
        content = ContentLines()
    }

    private mutating func set(_ content: RecordedContent) {
        switch part {
        case .request: exchange?.content = content
        case .answer: exchange?.answer?.content = content
        }
    }

    private mutating func takeContent(_ add: (inout ContentLines) -> Bool) throws(TranscriptError) {
        guard part == .request || transcript?.kind == .recording else {
            throw problem("content is not allowed after the statuses")
        }
        guard add(&content) else { throw problem("text lines and escaped lines cannot be mixed") }
    }

    private func field(_ bytes: ArraySlice<UInt8>) throws(TranscriptError) -> WireField {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex else {
            throw problem("invalid field: expected NAME: VALUE")
        }
        let value = bytes[(colon + 1)...].drop { $0.isWhitespace }
        var kept: [UInt8] = Array(value)
        if transcript?.kind == .recording {
            guard let raw = RecordingText.unescape(value) else {
                throw problem("invalid escape sequence")
            }
            kept = raw
        }
        return WireField(name: WireText.string(bytes[..<colon]), value: WireText.string(kept))
    }

    private mutating func takeRequest(_ bytes: [UInt8]) throws(TranscriptError) {
        let text = Self.text(of: bytes)
        guard part == .request else { throw problem("a request line is not allowed after the response") }
        if hasRequestLine {
            let field = try field(text)
            exchange?.fields.append(field)
            return
        }
        let words = text.split(separator: 32).map { WireText.string($0) }
        guard words.count == 2 || words.count == 3 else { throw problem("expected a method and a target") }
        if words.count == 3 {
            guard words[2] == "HTTP/1.0" || words[2] == "HTTP/1.1" else {
                throw problem("unknown HTTP version")
            }
            exchange?.minorVersion = words[2] == "HTTP/1.0" ? 0 : 1
        }
        exchange?.method = words[0]
        exchange?.target = words[1]
        if transcript?.kind == .recording {
            guard let raw = RecordingText.unescape(WireText.bytes(words[1])) else {
                throw problem("invalid escape sequence")
            }
            exchange?.target = WireText.string(raw)
        }
        hasRequestLine = true
    }

    private mutating func takeAnswer(_ bytes: [UInt8]) throws(TranscriptError) {
        let text = Self.text(of: bytes)
        if part == .answer, transcript?.kind == .recording {
            let field = try field(text)
            exchange?.answer?.fields.append(field)
            return
        }
        storeContent()
        part = .answer
        if transcript?.kind == .recording { exchange?.answer = RecordedExchange.Answer() }
        for word in text.split(separator: 32) {
            guard let status = Int(String(decoding: word, as: UTF8.self)), 100...999 ~= status else {
                throw problem("invalid status")
            }
            exchange?.statuses.append(status)
        }
    }

    private mutating func takeManner(_ bytes: [UInt8]) throws(TranscriptError) {
        var words = Words(String(decoding: Self.text(of: bytes), as: UTF8.self))
        switch words.next() {
        case "framing":
            let framing = try framing(&words)
            exchange?.framing = framing
        case "fill":
            guard let (byte, count) = Self.fill(&words) else { throw problem("expected a byte and a count") }
            set(.fill(byte, count: count))
        case "omitted":
            guard let count = words.next().flatMap({ Int64($0) }), count >= 0, let digest = words.next()
            else {
                throw problem("expected a length and a digest")
            }
            set(.omitted(count: count, digest: digest == "-" ? nil : String(digest)))
        case "expect": exchange?.awaitsContinue = true
        case "withheld": exchange?.isContentWithheld = true
        case "new-connection": exchange?.opensConnection = true
        case "wait":
            guard let seconds = words.lastNumber(), 0...3600 ~= seconds else {
                throw problem("expected a number of seconds from 0 to 3600")
            }
            exchange?.waitSeconds = seconds
        case "gap":
            guard let gap = RecordedExchange.Gap(rawValue: words.rest) else {
                throw problem("expected 'gap request' or 'gap answer'")
            }
            exchange?.gap = gap
        default: throw problem("unknown directive")
        }
    }

    private func framing(_ words: inout Words) throws(TranscriptError) -> RecordedExchange.Framing {
        switch words.next() {
        case "none": return .none
        case "zero": return .zero
        case "length": return .length
        case "chunked":
            guard let size = words.lastNumber(), size > 0 else { throw problem("invalid chunk size") }
            return .chunked(size)
        default: throw problem("unknown framing")
        }
    }

    private mutating func takeCheck(_ bytes: [UInt8]) throws(TranscriptError) {
        let isAdvice = bytes.dropFirst().first == UInt8(ascii: "~")
        let text = String(decoding: Self.text(of: Array(bytes.dropFirst(isAdvice ? 1 : 0))), as: UTF8.self)
        guard let check = Check(parsing: text, isAdvice: isAdvice) else { throw problem("invalid check") }
        exchange?.checks.append(check)
    }
}

/// Content collected from lines.
private struct ContentLines {
    private var lines: [ArraySlice<UInt8>] = []
    private var raw: [UInt8] = []
    private var hasRaw = false

    /// Adds a text line. Returns false if there are raw bytes already.
    mutating func add(line: ArraySlice<UInt8>) -> Bool {
        lines.append(line)
        return !hasRaw
    }

    /// Adds raw bytes. Returns false if there are text lines already.
    mutating func add(raw bytes: [UInt8]) -> Bool {
        raw += bytes
        hasRaw = true
        return lines.isEmpty
    }

    /// The collected bytes; nil if no line was added.
    var bytes: [UInt8]? {
        if hasRaw { return raw }
        return lines.isEmpty ? nil : Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }
}
