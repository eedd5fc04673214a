/// The recording state of one connection: finds the messages in its bytes and matches responses to their
/// requests.
///
/// Owned by the writer thread. Formats each complete exchange as text. The requests of all connections are
/// numbered with a counter that the owner passes to each call.
struct ConnectionTranscript {
    enum Direction: Sendable { case received, sent }

    private let contentLimitBytes: Int
    private var requests = MessageScanner()
    private var answers = MessageScanner()
    /// The exchanges that have not been written yet, oldest first. If ``isReading`` is true, the request of the
    /// last one is still being read.
    private var open: [ExchangeRecord] = []
    private var isReading = false
    /// Whether the response head for the first of ``open`` has been read and its content follows.
    private var isAnswering = false
    private var isInterim = false
    /// Whether the rest of the requests, or of the responses, is unreadable.
    private var areRequestsLost = false
    private var areAnswersLost = false
    private var leftOutBytes: Int64 = 0
    /// Text that has not been written yet.
    private(set) var text: [UInt8] = []

    init(contentLimitBytes: Int) { self.contentLimitBytes = contentLimitBytes }

    mutating func takeText() -> [UInt8] {
        defer { text = [] }
        return text
    }

    /// Takes the next bytes of one direction.
    ///
    /// - Parameter count: the number of the last counted request; incremented for each request that is
    ///   counted.
    mutating func add(
        _ bytes: UnsafeRawBufferPointer, _ direction: Direction, milliseconds: Int64, order count: inout Int
    ) {
        let isLost = direction == .received ? areRequestsLost : areAnswersLost
        guard !isLost else {
            leftOutBytes += Int64(bytes.count)
            return
        }
        var rest = unsafe bytes
        do throws(MessageScanner.Lost) {
            while true {
                let isOver =
                    switch direction {
                    case .received: try unsafe request(&rest, milliseconds: milliseconds, order: &count)
                    case .sent: try unsafe answer(&rest, order: &count)
                    }
                if isOver { return }
            }
        } catch {
            lose(direction)
            leftOutBytes += Int64(rest.count)
        }
    }

    /// Records that bytes were not queued because the queue was full.
    mutating func miss(_ count: Int64, _ direction: Direction) {
        leftOutBytes += count
        switch direction {
        case .received:
            guard !areRequestsLost else { return }
            if isReading, requests.skip(count) {
                open[open.count - 1].content.skip(count)
            } else {
                lose(.received)
            }
        case .sent:
            guard !areAnswersLost else { return }
            if isAnswering, !isInterim, answers.skip(count) {
                open[0].answerContent.skip(count)
            } else {
                lose(.sent)
            }
        }
    }

    /// Ends the connection. Open exchanges are written, with a mark if they are incomplete.
    mutating func end() {
        if isAnswering, !isInterim, answers.endsWithConnection, !areAnswersLost {
            open[0].isAnswerComplete = true
        }
        for index in open.indices { text += open[index].text() }
        open = []
        if leftOutBytes > 0 {
            text +=
                "\n# \(leftOutBytes) bytes of this connection are not in this file: the queue was full, or"
                .utf8
            text += " they were not HTTP.\n".utf8
        }
    }

    private mutating func lose(_ direction: Direction) {
        switch direction {
        case .received: areRequestsLost = true
        case .sent:
            areAnswersLost = true
            // Without responses, no exchange could be completed, and requests would accumulate here.
            areRequestsLost = true
        }
    }

    // MARK: Messages

    /// Scans the received bytes for the next step of a request.
    /// - Returns: true if all input was consumed.
    private mutating func request(
        _ rest: inout UnsafeRawBufferPointer, milliseconds: Int64, order count: inout Int
    ) throws(MessageScanner.Lost) -> Bool {
        let (consumed, step) = try unsafe requests.next(rest)
        unsafe rest = UnsafeRawBufferPointer(rebasing: rest[consumed...])
        switch step {
        case .needMore: return true
        case .head(let head):
            guard let framing = head.requestFraming else { throw MessageScanner.Lost() }
            open.append(
                ExchangeRecord(
                    head: head, milliseconds: milliseconds,
                    content: ContentSample(limitBytes: contentLimitBytes),
                    answerContent: ContentSample(limitBytes: contentLimitBytes)))
            isReading = true
            if framing == .chunked { open[open.count - 1].chunkBytes = 0 }
            requests.begin(framing)
        case .content(let count):
            let last = open.count - 1
            unsafe open[last].content.append(UnsafeRawBufferPointer(rebasing: rest[..<count]))
            if let size = open[last].chunkBytes { open[last].chunkBytes = max(size, count) }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        case .end:
            isReading = false
            // Count the request here, not when the response is seen: by then, the client may already have
            // received the response and sent another request on a different connection.
            open[open.count - 1].count(&count)
            open[open.count - 1].isRequestComplete = true
            writeComplete()
        }
        return false
    }

    private mutating func answer(
        _ rest: inout UnsafeRawBufferPointer, order count: inout Int
    ) throws(MessageScanner.Lost) -> Bool {
        let (consumed, step) = try unsafe answers.next(rest)
        unsafe rest = UnsafeRawBufferPointer(rebasing: rest[consumed...])
        switch step {
        case .needMore: return true
        case .head(let head):
            try begin(head, order: &count)
        case .content(let count):
            unsafe open[0].answerContent.append(UnsafeRawBufferPointer(rebasing: rest[..<count]))
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        case .end:
            isAnswering = false
            if !isInterim { open[0].isAnswerComplete = true }
            isInterim = false
            writeComplete()
        }
        return false
    }

    private mutating func begin(_ head: MessageHead, order count: inout Int) throws(MessageScanner.Lost) {
        guard let status = head.status else { throw MessageScanner.Lost() }
        guard let next = open.first else {
            // The response belongs to no known request.
            text += "\n# The server sent \(status) without a request.\n".utf8
            throw MessageScanner.Lost()
        }
        guard let framing = head.answerFraming(to: next.method) else { throw MessageScanner.Lost() }
        isAnswering = true
        isInterim = status < 200
        if isInterim {
            open[0].interim.append(status)
        } else {
            open[0].count(&count)
            open[0].answer = head
        }
        answers.begin(framing)
    }

    /// Writes complete exchanges, oldest first. An exchange whose response ended first is written when its
    /// request is complete.
    private mutating func writeComplete() {
        while let first = open.first, first.isRequestComplete, first.isAnswerComplete {
            text += open[0].text()
            open.removeFirst()
        }
    }
}
