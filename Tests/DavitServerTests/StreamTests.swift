import DavitHTTP
import DavitLogging
import DavitServer
import DavitTesting
import Synchronization
import Testing

struct StreamTests {
    struct Failure: Error {}

    /// Returns the output of each call of `next` into a buffer of this size.
    static func pieces(of response: HTTPResponse, capacity: Int = 100) async throws -> [String] {
        guard case .stream(let stream) = response.body else { return [] }
        var pieces: [String] = []
        let buffer = IOBuffer(capacity: capacity)
        while true {
            buffer.removeAll()
            try await stream.next(into: buffer)
            if buffer.count == 0 { return pieces }
            pieces.append(unsafe buffer.withBytes { unsafe String(decoding: $0, as: UTF8.self) })
        }
    }

    @Test func pulledProducerIsCalledForEachPiece() async throws {
        var rest = ["a", "", "bcd", "e"]
        let response = HTTPResponse.stream(type: "text/x") {
            rest.isEmpty ? nil : Array(rest.removeFirst().utf8)
        }
        #expect(response.fields.first(.contentType) == "text/x")
        // An empty piece does not end the stream, and a long one is sent in parts.
        #expect(try await Self.pieces(of: response, capacity: 2) == ["a", "bc", "d", "e"])
    }

    @Test func writingProducerWaitsForTheClient() async throws {
        let written = Mutex(0)
        let response = HTTPResponse.stream(type: "text/x") { writer in
            for number in 1...3 {
                try await writer.write("piece \(number)")
                written.withLock { $0 = number }
            }
            try await writer.write("")
        }
        guard case .stream(let stream) = response.body else { return }
        #expect(stream.flushesImmediately)
        let buffer = IOBuffer(capacity: 4)
        try await stream.next(into: buffer)
        // The first piece has not been read completely, so the producer still waits.
        #expect(written.withLock { $0 } == 0)
        #expect(try await Self.pieces(of: response, capacity: 100).joined() == "e 1piece 2piece 3")
        #expect(written.withLock { $0 } == 3)
    }

    @Test func severalTasksCanWrite() async throws {
        let response = HTTPResponse.stream(type: "text/x") { writer in
            await withTaskGroup(of: Void.self) { group in
                for letter in ["a", "b", "c"] {
                    group.addTask { for _ in 0..<100 { try? await writer.write(letter + letter) } }
                }
            }
        }
        let text = try await Self.pieces(of: response, capacity: 7).joined()
        #expect(text.utf8.count == 600)
        // Pieces are not interleaved.
        for start in stride(from: 0, to: 600, by: 2) {
            let pair = Array(text.utf8)[start...start + 1]
            #expect(pair.first == pair.last)
        }
    }

    @Test func producerFailureClosesTheConnection() async throws {
        let pulled = HTTPResponse.stream(type: "a/b") { () throws -> [UInt8]? in throw Failure() }
        let written = HTTPResponse.stream(type: "a/b") { writer in
            try await writer.write("a")
            throw Failure()
        }
        await #expect(throws: HTTPError.disconnected) { try await Self.pieces(of: pulled) }
        await #expect(throws: HTTPError.disconnected) { try await Self.pieces(of: written) }
    }

    /// When the client disconnects, the producer gets an error and its task ends.
    @Test func producerIsNotifiedOfADisconnect() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        var response: HTTPResponse? = .stream(type: "a/b") { writer in
            do {
                while true { try await writer.write("a") }
            } catch {
                end.yield(error is CancellationError && Task.isCancelled)
            }
        }
        if case .stream(let stream) = response?.body { try await stream.next(into: IOBuffer(capacity: 1)) }
        response = nil
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == true)
    }

    @Test func cancelledConnectionStopsWaiting() async throws {
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let reader = Task {
            let response = HTTPResponse.stream(type: "a/b") { _ in
                start.yield()
                // Waits until the task is cancelled.
                for await _ in AsyncStream<Void>.makeStream().stream {}
            }
            return try await Self.pieces(of: response)
        }
        var iterator = starts.makeAsyncIterator()
        _ = await iterator.next()
        reader.cancel()
        await #expect(throws: HTTPError.disconnected) { try await reader.value }
    }

    @Test func producerStartsWhenRead() async throws {
        let begun = Mutex(false)
        do {
            let response = HTTPResponse.stream(type: "a/b") { _ in begun.withLock { $0 = true } }
            #expect(response.body.length == nil)
        }
        #expect(!begun.withLock { $0 })
    }
}

/// Server-sent events (HTML Standard §9.2).
struct EventStreamTests {
    static func events(_ produce: @escaping @Sendable (EventWriter) async throws -> Void) async throws
        -> String
    {
        let response = HTTPResponse.events(produce)
        #expect(response.fields.first(.contentType) == "text/event-stream")
        #expect(response.fields.first(.cacheControl) == "no-store")
        let pieces = try await StreamTests.pieces(of: response, capacity: 1000)
        // The stream begins with an empty comment, so that the head is sent before the first event.
        #expect(pieces.first == ": \n\n")
        return pieces.dropFirst().joined()
    }

    static let messages: [(data: String, stream: String)] = [
        ("a", "data: a\n\n"), ("", "data: \n\n"), ("a\nb", "data: a\ndata: b\n\n"),
        ("a\r\nb\rc", "data: a\ndata: b\ndata: c\n\n"),
        ("a\n", "data: a\ndata: \n\n"), ("\n\r", "data: \ndata: \ndata: \n\n"), (" a: b", "data:  a: b\n\n"),
        ("ö", "data: ö\n\n"),
    ]

    @Test(arguments: messages)
    func dataLinesArePreserved(data: String, stream: String) async throws {
        #expect(try await Self.events { try await $0.send(data) } == stream)
    }

    @Test func eventsHaveNamesIDsAndRetryTimes() async throws {
        let stream = try await Self.events { events in
            try await events.send("x", event: "moved", id: "17", retry: .milliseconds(2500))
            try await events.comment("still here\nand there")
            // Field values cannot add lines.
            try await events.send("x", event: "a\ndata: b", id: "1\0\r2")
        }
        #expect(
            stream == "event: moved\nid: 17\nretry: 2500\ndata: x\n\n: still here\n: and there\n\n"
                + "event: adata: b\nid: 12\ndata: x\n\n")
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .seconds(-1)])
    func retryTimesSaturate(retry: Duration) async throws {
        let stream = try await Self.events { try await $0.send("x", retry: retry) }
        #expect(stream == "retry: \(retry < .zero ? 0 : Int64.max / 1_000_000 * 1000)\ndata: x\n\n")
    }

    @Test func durationsOfTheAccessLogSaturate() {
        for duration in [Duration.seconds(Int64.max), .seconds(Int64.min)] {
            let record = AccessRecord(
                request: nil, status: .ok, bytesSent: 0, duration: duration,
                time: Timestamp(nanoseconds: .min),
                connectionPeer: "", isComplete: true)
            for format in [AccessFormat.davit, .json] {
                var line: [UInt8] = []
                format.append(record, to: &line)
                #expect(!line.isEmpty)
            }
        }
    }

    /// Event streams end when the connection is about to close: events already written are still sent, and
    /// the task is cancelled.
    @Test func eventStreamsEndWithTheServer() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        let response = HTTPResponse.events { events in
            do {
                while true { try await events.send("a") }
            } catch {
                end.yield(error is CancellationError)
                throw error
            }
        }
        guard case .stream(let stream) = response.body else { return }
        let buffer = IOBuffer(capacity: 100)
        try await stream.next(into: buffer)
        stream.finishEarly()
        stream.finishEarly()
        let rest = try await StreamTests.pieces(of: response, capacity: 100).joined()
        #expect(rest == "" || rest == "data: a\n\n")
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == true)
    }

    /// `finishEarly()` does not truncate a generated stream that is not an event stream.
    @Test func finishEarlyDoesNotEndAGeneratedStream() async throws {
        let response = HTTPResponse.stream(type: "a/b") { writer in
            for number in 1...3 { try await writer.write("\(number)") }
        }
        guard case .stream(let stream) = response.body else { return }
        stream.finishEarly()
        #expect(try await StreamTests.pieces(of: response).joined() == "123")
    }
}
