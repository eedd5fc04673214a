/// What was seen of one connection: finds the messages in its bytes, and brings answers to their requests.
///
/// Belongs to the thread that writes. Makes text of each exchange that is complete; requests are counted by its owner, for all
/// connections.
struct ConnectionRecord {
    enum Direction: Sendable { case received, sent }

    private let contentLimitBytes: Int
    private var requests = MessageScanner()
    private var answers = MessageScanner()
    /// The oldest first; the last one is the request that is being read.
    private var open: [ExchangeRecord] = []
    private var isReading = false
    /// The first of ``open`` has the head of an answer, and its content follows.
    private var isAnswering = false
    private var isInterim = false
    /// What follows in that direction cannot be read.
    private var areRequestsLost = false
    private var areAnswersLost = false
    private var leftOutBytes: Int64 = 0
    /// Text that is not written yet.
    private(set) var text: [UInt8] = []

    init(contentLimitBytes: Int) { self.contentLimitBytes = contentLimitBytes }

    mutating func takeText() -> [UInt8] {
        defer { text = [] }
        return text
    }

    /// - Parameter count: the number of the last request that was complete, or was answered before; one is added for each.
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

    /// Bytes were not queued for want of room.
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

    /// The connection is closed: what is not complete stays so.
    mutating func end() {
        if isAnswering, !isInterim, answers.endsWithConnection, !areAnswersLost {
            open[0].isAnswerComplete = true
        }
        for index in open.indices { text += open[index].text() }
        open = []
        if leftOutBytes > 0 {
            text +=
                "\n# \(leftOutBytes) bytes of this connection are not in this file: they came too fast, or"
                .utf8
            text += " were no HTTP.\n".utf8
        }
    }

    private mutating func lose(_ direction: Direction) {
        switch direction {
        case .received: areRequestsLost = true
        case .sent:
            areAnswersLost = true
            // Without answers they would only gather here.
            areRequestsLost = true
        }
    }

    // MARK: Messages

    /// - Returns: true if there is no more to read.
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
            // Not when it is answered: the client may have the answer, and have sent more elsewhere, before that is seen.
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
            // To something that is no request, or to none in time.
            text += "\n# The server said \(status) without a request.\n".utf8
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

    /// Writes what is complete, oldest first. An answer that came before the end of its request waits for that.
    private mutating func writeComplete() {
        while let first = open.first, first.isRequestComplete, first.isAnswerComplete {
            text += open[0].text()
            open.removeFirst()
        }
    }
}
