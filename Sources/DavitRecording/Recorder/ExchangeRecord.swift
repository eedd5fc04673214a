internal import DavitHTTP

/// A request and its response during recording.
struct ExchangeRecord {
    let head: MessageHead
    /// The time from the start of the recorder to the arrival of the request head.
    let milliseconds: Int64
    var content: ContentSample
    var chunkBytes: Int?
    var isRequestComplete = false
    var answer: MessageHead?
    var answerContent: ContentSample
    var isAnswerComplete = false
    var interim: [Int] = []
    /// The number of the request among those of all connections; 0 until it is counted.
    private(set) var order = 0

    var method: String { head.words[0] }

    /// Whether the client waited for 100, received a final response instead, and sent no content.
    private var isWithheld: Bool {
        !isRequestComplete && content.count == 0 && answer != nil
            && head.fields["Expect"]?.lowercased() == "100-continue"
    }

    /// Assigns the next number, unless the exchange already has one.
    mutating func count(_ last: inout Int) {
        guard order == 0 else { return }
        last += 1
        order = last
    }

    /// Formats the exchange as lines of the recording.
    mutating func text() -> [UInt8] {
        var text: [UInt8] = []
        let target = CredentialMask.withoutUser(head.words[1])
        text += "\n=== \(order) after \(milliseconds) ms\n> ".utf8
        RecordingText.append(escaping: WireText.bytes(head.words[0] + " " + target), to: &text)
        if head.words.count == 3, head.words[2] == "HTTP/1.0" { text.append(" HTTP/1.0") }
        text.append(10)
        Self.append(head.fields, mark: "> ", to: &text)
        if let chunkBytes { text += "~ framing chunked \(max(chunkBytes, 1))\n".utf8 }
        if head.fields["Expect"]?.lowercased() == "100-continue" { text.append("~ expect\n") }
        if isWithheld {
            text.append("~ withheld\n")
        } else {
            Self.append(finish(&content), to: &text)
            if !isRequestComplete { text.append("~ gap request\n") }
        }
        guard let answer else {
            if isRequestComplete { text.append("~ gap answer\n") }
            text.append("# There was no response.\n")
            return text
        }
        if !isAnswerComplete, isRequestComplete || isWithheld { text.append("~ gap answer\n") }
        for status in interim { text += "# first: \(status)\n".utf8 }
        text += "< \(answer.status ?? 0)\n".utf8
        Self.append(answer.fields, mark: "< ", to: &text)
        Self.append(finish(&answerContent), to: &text)
        return text
    }

    /// Ends a sample. The digest of a short secret would be sufficient to guess it, so it is omitted too.
    private func finish(_ sample: inout ContentSample) -> RecordedContent {
        let content = sample.finish()
        guard CredentialMask.hidesContent(method: method, target: head.words[1]), sample.count > 0 else {
            return content
        }
        return .omitted(count: sample.count, digest: nil)
    }

    private static func append(_ fields: [WireField], mark: StaticString, to text: inout [UInt8]) {
        for field in fields {
            let masked = CredentialMask.applied(to: field)
            text.append(mark)
            RecordingText.append(escaping: WireText.bytes(masked.name), to: &text)
            text.append(masked.value.isEmpty ? ":" : ": ")
            RecordingText.append(escaping: WireText.bytes(masked.value), to: &text)
            text.append(10)
        }
    }

    private static func append(_ content: RecordedContent, to text: inout [UInt8]) {
        switch content {
        case .bytes(let bytes): RecordingText.append(content: bytes, to: &text)
        case .omitted(let count, let digest): text += "~ omitted \(count) \(digest ?? "-")\n".utf8
        case .fill(let byte, let count):
            RecordingText.append(repeating: byte, count: count, to: &text)
        }
    }
}
