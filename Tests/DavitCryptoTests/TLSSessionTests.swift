#if TLS
import COpenSSL
import DavitCrypto
import DavitTesting
import Testing

struct TLSSessionTests {
    static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    }

    static let versions: [(number: Int32, version: TLSSession.Version)] = [
        (TLS1_2_VERSION, .tls12), (TLS1_3_VERSION, .tls13),
    ]

    @Test(arguments: versions, [1, 2, 5, 777, Int.max])
    func dataIsTransferredBothWaysInAnyPieces(
        of: (number: Int32, version: TLSSession.Version), pieceBytes: Int
    ) throws {
        let options = TLSTestClient.Options(
            least: of.number, most: of.number, protocols: ["http/1.1"], serverName: "localhost",
            trusted: try TestPKI.authority.get().certificate.pem())
        let talk = try TLSConversation(options, pieceBytes: pieceBytes)
        #expect(talk.server.version == nil)
        #expect(talk.performHandshake() == (.done, .done))
        #expect(talk.server.version == of.version)
        #expect(talk.server.applicationProtocol == "http/1.1")
        #expect(talk.server.serverName == "localhost")
        #expect(talk.server.wasResumed == false)
        #expect(talk.server.clientCertificate == nil)

        // 100,000 transfers of single bytes would be too slow.
        for count in [1, 100, 16_384, 16_385, 100_000] where pieceBytes > 10 || count < 20_000 {
            let sent = Self.bytes(count)
            #expect(talk.sendFromClient(sent).bytes == sent)
            #expect(try talk.sendFromServer(sent) == sent)
        }
    }

    @Test(arguments: versions)
    func firstFlightMayBeSplitAnywhere(of: (number: Int32, version: TLSSession.Version)) throws {
        let context = try TLSContext(
            identities: [try TestPKI.server.get()], tickets: TicketKeys(now: TestPKI.now))
        let client = try TLSTestClient(.init(least: of.number, most: of.number))
        #expect(client.handshake() == .needsInput)
        let hello = client.takeOutput()
        for position in 1..<hello.count {
            var server = try TLSSession(context, now: TestPKI.now)
            unsafe hello[..<position].withUnsafeBytes { unsafe server.receive($0) }
            #expect(server.handshake() == .needsInput)
            #expect(server.outputCount == 0)
            unsafe hello[position...].withUnsafeBytes { unsafe server.receive($0) }
            #expect(server.handshake() == .needsInput)
            #expect(server.outputCount > 0)
        }
    }

    @Test func recordMayBeSplitAnywhere() throws {
        let talk = try TLSConversation()
        talk.performHandshake()
        let sent = Self.bytes(50)
        for position in 1..<72 {
            talk.client.write(sent)
            let record = talk.client.takeOutput()
            try #require(record.count == 72)
            talk.feedServer(Array(record[..<position]))
            #expect(talk.read().reading == .needsInput)
            talk.feedServer(Array(record[position...]))
            #expect(talk.read().bytes == sent)
        }
    }

    @Test func oneReadReturnsSeveralRecords() throws {
        let talk = try TLSConversation()
        talk.performHandshake()
        for number in 0..<10 { talk.client.write([UInt8](repeating: UInt8(number), count: 100)) }
        talk.feedServer(talk.client.takeOutput())
        let (bytes, reading) = talk.read()
        #expect(reading == .bytes(1000))
        #expect(bytes == (0..<10).flatMap { [UInt8](repeating: $0, count: 100) })
    }

    @Test(arguments: [1, 99, 100, 101])
    func dataThatDoesNotFitIsReadLater(room: Int) throws {
        let talk = try TLSConversation()
        talk.performHandshake()
        let sent = Self.bytes(1000)
        #expect(talk.sendFromClient(sent, room: room) == (sent, .needsInput))
    }

    @Test func outputOfSeveralRecordsIsContiguousAndBounded() throws {
        let talk = try TLSConversation()
        talk.performHandshake()
        let sent = Self.bytes(200_000)
        let taken = try unsafe sent.withUnsafeBytes { try unsafe talk.server.write($0) }
        #expect(taken == 4 * 16_384)
        #expect(talk.server.outputIsFull == true)
        #expect(try unsafe sent.withUnsafeBytes { try unsafe talk.server.write($0) } == 0)
        let output = talk.takeServerOutput()
        // Four records, each with a header and, in TLS 1.3, a type and a tag (RFC 8446 §5.2).
        #expect(output.count == 4 * (5 + 16_384 + 1 + 16))
        talk.client.receive(output)
        #expect(talk.client.read().bytes == Array(sent[..<taken]))
    }

    @Test func outputCanBeSentInPieces() throws {
        let talk = try TLSConversation()
        talk.performHandshake()
        let sent = Self.bytes(3000)
        _ = try unsafe sent.withUnsafeBytes { try unsafe talk.server.write($0) }
        var got: [UInt8] = []
        var calls = 0
        while talk.server.outputCount > 0 {
            unsafe talk.server.withOutput { output in
                let count = min(calls % 7, output.count)
                unsafe talk.client.receive(Array(output[..<count]))
                return count
            }
            got += talk.client.read().bytes
            // Buffers that contain data must be kept.
            talk.server.releaseMemory()
            calls += 1
        }
        #expect(got == sent)
    }

    @Test func inputCanBeSuppliedWithoutACopy() throws {
        let talk = try TLSConversation()
        talk.performHandshake()
        talk.client.write(Self.bytes(40))
        let record = talk.client.takeOutput()
        let came = unsafe talk.server.receive(atLeast: record.count) { room in
            unsafe room.copyBytes(from: record)
            return record.count
        }
        #expect(came == record.count)
        #expect(talk.read().bytes == Self.bytes(40))
    }

    @Test(arguments: versions)
    func closeNotifyDiffersFromTruncation(of: (number: Int32, version: TLSSession.Version)) throws {
        for isClean in [true, false] {
            let talk = try TLSConversation(.init(least: of.number, most: of.number))
            talk.performHandshake()
            talk.client.write([1, 2, 3])
            if isClean { talk.client.closeNotify() }
            talk.feedServer(talk.client.takeOutput())
            talk.server.inputEnded()
            // Data that arrived before the end is delivered in any case.
            #expect(talk.read().bytes == [1, 2, 3])
            let end = isClean ? TLSSession.Reading.ended : .failed(.truncated)
            #expect(talk.read().reading == end)
            #expect(talk.read().reading == end)
        }
    }

    @Test func endWithinARecordIsATruncation() throws {
        let talk = try TLSConversation()
        talk.performHandshake()
        talk.client.write(Self.bytes(100))
        talk.feedServer(talk.client.takeOutput().dropLast())
        talk.server.inputEnded()
        #expect(talk.read().reading == .failed(.truncated))
    }

    @Test func endWithinTheHandshakeIsATruncation() throws {
        let talk = try TLSConversation()
        talk.server.inputEnded()
        #expect(talk.server.handshake() == .failed(.truncated))
    }

    @Test(arguments: versions)
    func closeNotifyReachesTheClient(of: (number: Int32, version: TLSSession.Version)) throws {
        let talk = try TLSConversation(.init(least: of.number, most: of.number))
        talk.server.closeNotify()
        #expect(talk.server.outputCount == 0)
        talk.performHandshake()
        _ = try unsafe [UInt8(7)].withUnsafeBytes { try unsafe talk.server.write($0) }
        talk.server.closeNotify()
        let sent = talk.takeServerOutput()
        talk.client.receive(sent)
        let (bytes, state) = talk.client.read()
        #expect(bytes == [7])
        #expect(state == .done)
        // The other direction is still open (RFC 8446 §6.1).
        if of.version == .tls13 { #expect(talk.sendFromClient([1]).bytes == [1]) }
    }

    static let nonsense: [[UInt8]] = [
        Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), [UInt8](repeating: 0, count: 100),
        [22, 3, 1, 0, 4, 1, 0, 0, 200], [22, 3, 1, 255, 255, 1],
        // An alert instead of a ClientHello.
        [21, 3, 1, 0, 2, 2, 40],
    ]

    @Test(arguments: nonsense)
    func invalidBytesFailPermanently(bytes: [UInt8]) throws {
        let talk = try TLSConversation()
        talk.feedServer(bytes)
        talk.server.inputEnded()
        let state = talk.server.handshake()
        guard case .failed(let failure) = state else {
            Issue.record("\(state)")
            return
        }
        #expect(!failure.text.isEmpty)
        #expect(talk.server.handshake() == state)
        #expect(talk.read().reading == .failed(failure))
        let byte: [UInt8] = [1]
        #expect(throws: failure) { try unsafe byte.withUnsafeBytes { try unsafe talk.server.write($0) } }
        talk.server.closeNotify()
        #expect(talk.server.version == nil)
    }

    @Test func forgedRecordFails() throws {
        let talk = try TLSConversation()
        talk.performHandshake()
        talk.client.write(Self.bytes(100))
        var record = talk.client.takeOutput()
        record[50] ^= 1
        talk.feedServer(record)
        guard case .failed(.refused) = talk.read().reading else {
            Issue.record("the record was accepted")
            return
        }
        // The client is notified (RFC 8446 §5.2, bad_record_mac).
        talk.client.receive(talk.takeServerOutput())
        #expect(talk.client.read().state == .failed("sslv3 alert bad record mac"))
    }

    // RFC 5746 applies to TLS 1.2. By default, OpenSSL before 3.0 lets clients renegotiate without limit.
    @Test func renegotiationIsRefused() throws {
        let talk = try TLSConversation(.init(most: TLS1_2_VERSION))
        talk.performHandshake()
        #expect(talk.client.renegotiate() == .needsInput)
        talk.feedServer(talk.client.takeOutput())
        #expect(talk.read().reading == .needsInput)
        talk.client.receive(talk.takeServerOutput())
        #expect(talk.client.handshake() == .failed("no renegotiation"))
    }

    // RFC 8446 §4.6.3: the server updates its keys, too, before it writes.
    @Test func clientCanUpdateKeys() throws {
        let talk = try TLSConversation()
        talk.performHandshake()
        _ = talk.deliverToClient()
        talk.client.updateKeys()
        #expect(talk.sendFromClient([1, 2]).bytes == [1, 2])
        #expect(try talk.sendFromServer([3, 4]) == [3, 4])
    }
}
#endif
