import DavitHTTP
import DavitSystem
import DavitTesting
import DavitXML
import Testing

@testable import DavitDiscovery

/// Envelopes as Windows 10 and 11 send them.
enum WSDEnvelopes {
    static func envelope(action: String, body: String, id: String = "urn:uuid:1-2", namespaces: String = "")
        -> [UInt8]
    {
        Array(
            """
            <?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope" \
            xmlns:wsa="http://schemas.xmlsoap.org/ws/2004/08/addressing" \
            xmlns:wsd="http://schemas.xmlsoap.org/ws/2005/04/discovery" \(namespaces)><soap:Header>\
            <wsa:To>urn:schemas-xmlsoap-org:ws:2005:04:discovery</wsa:To><wsa:Action>\(action)</wsa:Action>\
            <wsa:MessageID>\(id)</wsa:MessageID></soap:Header><soap:Body>\(body)</soap:Body></soap:Envelope>
            """.utf8)
    }

    static let profile = "xmlns:wsdp=\"http://schemas.xmlsoap.org/ws/2006/02/devprof\""

    static func probe(_ body: String, namespaces: String = profile) -> [UInt8] {
        envelope(
            action: "http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe",
            body: "<wsd:Probe>\(body)</wsd:Probe>",
            namespaces: namespaces)
    }

    static func resolve(_ address: String) -> [UInt8] {
        envelope(
            action: "http://schemas.xmlsoap.org/ws/2005/04/discovery/Resolve",
            body: """
                <wsd:Resolve><wsa:EndpointReference><wsa:Address>\(address)</wsa:Address></wsa:EndpointReference></wsd:Resolve>
                """)
    }

    static let get = envelope(action: "http://schemas.xmlsoap.org/ws/2004/09/transfer/Get", body: "")

    static let device = WSDDevice(
        name: "A & B", version: "1.0", identity: ["host", "8080"], startSeconds: 1_700_000_000)
}

struct WSDRequestTests {
    static let device = WSDRequest.WSDType.device
    static let understood: [(bytes: [UInt8], question: WSDRequest.Question)] = [
        (WSDEnvelopes.probe("<wsd:Types>wsdp:Device</wsd:Types>"), .probe(types: [device], hasScopes: false)),
        (WSDEnvelopes.probe(""), .probe(types: [], hasScopes: false)),
        (
            WSDEnvelopes.probe("<wsd:Types> </wsd:Types><wsd:Scopes> </wsd:Scopes>"),
            .probe(types: [], hasScopes: false)
        ),
        (WSDEnvelopes.probe("<wsd:Scopes>ldap:///ou=a</wsd:Scopes>"), .probe(types: [], hasScopes: true)),
        // The prefix is declared on the element itself, or is the default.
        (
            WSDEnvelopes.probe(
                "<wsd:Types xmlns:a=\"urn:a\" xmlns=\"urn:b\">a:X\n Y</wsd:Types>", namespaces: ""),
            .probe(
                types: [.init(namespace: "urn:a", local: "X"), .init(namespace: "urn:b", local: "Y")],
                hasScopes: false)
        ),
        (WSDEnvelopes.resolve(" urn:uuid:a "), .resolve(address: "urn:uuid:a")), (WSDEnvelopes.get, .get),
    ]

    @Test(arguments: understood)
    func questionIsRead(bytes: [UInt8], question: WSDRequest.Question) throws {
        let request = try WSDRequest(parsing: bytes)
        #expect(request.question == question)
        #expect(request.messageID == "urn:uuid:1-2")
    }

    static let discovery = "http://schemas.xmlsoap.org/ws/2005/04/discovery"
    static let refused: [(bytes: [UInt8], refusal: WSDRequest.Refusal)] = [
        (Array("<a/>".utf8), .notAnEnvelope),
        (WSDEnvelopes.envelope(action: "\(discovery)/Hello", body: "<wsd:Hello/>"), .otherAction),
        (WSDEnvelopes.envelope(action: "\(discovery)/Probe", body: ""), .notAnEnvelope),
        (WSDEnvelopes.envelope(action: "\(discovery)/Resolve", body: "<wsd:Resolve/>"), .notAnEnvelope),
        (WSDEnvelopes.envelope(action: "\(discovery)/Probe", body: "<wsd:Probe/>", id: ""), .notAnEnvelope),
        (
            WSDEnvelopes.envelope(
                action: "\(discovery)/Probe", body: "<wsd:Probe/>", id: String(repeating: "a", count: 513)),
            .notAnEnvelope
        ),
        (WSDEnvelopes.probe("<wsd:Types>missing:Device</wsd:Types>"), .unusableTypes),
        (WSDEnvelopes.probe("<wsd:Types>a:b:c</wsd:Types>"), .unusableTypes),
        (
            WSDEnvelopes.probe("<wsd:Types>\(String(repeating: "wsdp:A ", count: 17))</wsd:Types>"),
            .unusableTypes
        ),
    ]

    @Test(arguments: refused)
    func otherMessagesAreRefused(bytes: [UInt8], refusal: WSDRequest.Refusal) {
        #expect(throws: refusal) { try WSDRequest(parsing: bytes) }
    }

    @Test func everyTruncatedOrChangedDatagramIsRefusedOrRead() {
        let bytes = WSDEnvelopes.probe("<wsd:Types>wsdp:Device</wsd:Types>")
        for count in 0..<bytes.count {
            #expect(throws: WSDRequest.Refusal.self) { try WSDRequest(parsing: Array(bytes[..<count])) }
        }
        var generator = SeededGenerator(seed: 20_260)
        var refused = 0
        for _ in 0..<2_000 {
            var changed = bytes
            for _ in 0..<3 {
                changed[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            if (try? WSDRequest(parsing: changed)) == nil { refused += 1 }
        }
        #expect(refused > 1_000)
    }

    static let hostile: [[UInt8]] = [
        WSDEnvelopes.probe(String(repeating: "<a>", count: 20) + String(repeating: "</a>", count: 20)),
        WSDEnvelopes.probe(String(repeating: "<a/>", count: 300)),
        WSDEnvelopes.probe(String(repeating: " ", count: WSDRequest.limitBytes)),
        Array("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>".utf8),
        [], [0], Array(repeating: 0xFF, count: 100),
    ]

    @Test(arguments: hostile)
    func hostileDatagramIsRefused(bytes: [UInt8]) {
        #expect(throws: WSDRequest.Refusal.self) { try WSDRequest(parsing: bytes) }
    }
}

struct WSDResponderTests {
    static let near = SocketAddress(family: .ipv4, high: 0, low: 0xC0A8_0102, scope: 0, port: 50_000)
    static let url = "http://192.168.1.1:5357/x"
    static let probe = WSDEnvelopes.probe("<wsd:Types>wsdp:Device</wsd:Types>")

    static func text(_ bytes: [UInt8]?) -> String { bytes.map { String(decoding: $0, as: UTF8.self) } ?? "" }

    @Test func probeIsAnsweredWithTheURL() throws {
        var responder = WSDResponder(WSDEnvelopes.device)
        let bytes = responder.answer(Self.probe, from: Self.near, urls: [Self.url], now: 0)
        let answer = try #require(bytes)
        _ = try XMLDocument.parse(answer)
        let text = Self.text(answer)
        for part in [
            "discovery/ProbeMatches</wsa:Action>", "<wsa:RelatesTo>urn:uuid:1-2</wsa:RelatesTo>",
            "<wsa:Address>\(WSDEnvelopes.device.address)</wsa:Address>", "<wsd:Types>wsdp:Device</wsd:Types>",
            "<wsd:XAddrs>\(Self.url)</wsd:XAddrs>", "InstanceId=\"1700000000\" MessageNumber=\"1\"",
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        #expect(answer.count < 1_400, "fits into a packet")
    }

    static let unanswered: [[UInt8]] = [
        WSDEnvelopes.probe("<wsd:Types>wsdp:Printer</wsd:Types>"),
        WSDEnvelopes.probe("<wsd:Types>wsdp:Device wsdp:Other</wsd:Types>"),
        WSDEnvelopes.probe("<wsd:Scopes>urn:a</wsd:Scopes>"), WSDEnvelopes.resolve("urn:uuid:other"),
        WSDEnvelopes.get,
        Array("x".utf8),
    ]

    @Test(arguments: unanswered)
    func questionForOthersIsNotAnswered(bytes: [UInt8]) {
        var responder = WSDResponder(WSDEnvelopes.device)
        #expect(responder.answer(bytes, from: Self.near, urls: [Self.url], now: 0) == nil)
    }

    @Test func onlyOwnAddressIsResolved() {
        var responder = WSDResponder(WSDEnvelopes.device)
        let answer = responder.answer(
            WSDEnvelopes.resolve(WSDEnvelopes.device.address), from: Self.near, urls: [Self.url], now: 0)
        #expect(Self.text(answer).contains("<wsd:ResolveMatches><wsd:ResolveMatch>"))
    }

    static let sources: [(SocketAddress, Bool)] = [
        (near, true), (.init(family: .ipv4, high: 0, low: 0x0A01_0203, scope: 0, port: 1), true),
        (.init(family: .ipv4, high: 0, low: 0xAC1F_0001, scope: 0, port: 1), true),
        (.init(family: .ipv4, high: 0, low: 0xA9FE_0001, scope: 0, port: 1), true),
        (.init(family: .ipv6, high: 0xFE80 << 48, low: 1, scope: 2, port: 1), true),
        (.init(family: .ipv6, high: 0xFD12 << 48, low: 1, scope: 0, port: 1), true),
        (.init(family: .ipv4, high: 0, low: 0xC000_0201, scope: 0, port: 1), false),
        (.init(family: .ipv4, high: 0, low: 0xAC20_0001, scope: 0, port: 1), false),
        (.init(family: .ipv4, high: 0, low: 0xC0A9_0001, scope: 0, port: 1), false),
        (.init(family: .ipv6, high: 0x2001_0DB8 << 32, low: 1, scope: 0, port: 1), false),
        (.init(family: .ipv4, high: 0, low: 0xC0A8_0102, scope: 0, port: 0), false), (.local, false),
    ]

    @Test(arguments: sources)
    func onlyLocalNetworksAreAnswered(source: SocketAddress, isAnswered: Bool) {
        var responder = WSDResponder(WSDEnvelopes.device)
        #expect((responder.answer(Self.probe, from: source, urls: [Self.url], now: 0) != nil) == isAnswered)
    }

    @Test func aSourceIsAnsweredOncePerSecond() {
        var responder = WSDResponder(WSDEnvelopes.device)
        func isAnswered(_ bytes: [UInt8], _ port: UInt16, at now: Int64) -> Bool {
            var source = Self.near
            source.port = port
            return responder.answer(bytes, from: source, urls: [Self.url], now: now) != nil
        }
        #expect(isAnswered(Self.probe, 1, at: 0))
        #expect(!isAnswered(Self.probe, 2, at: 999_999_999))
        // Another question has a limit of its own, because Windows asks it immediately after the answer.
        #expect(isAnswered(WSDEnvelopes.resolve(WSDEnvelopes.device.address), 1, at: 1))
        #expect(isAnswered(Self.probe, 1, at: 1_000_000_000))
    }

    @Test func rememberedSourcesHaveALimit() {
        var responder = WSDResponder(WSDEnvelopes.device)
        func isAnswered(_ number: Int, at now: Int64) -> Bool {
            let source = SocketAddress(
                family: .ipv4, high: 0, low: 0x0A00_0000 + UInt64(number), scope: 0, port: 1)
            return responder.answer(Self.probe, from: source, urls: [Self.url], now: now) != nil
        }
        for number in 0..<WSDResponder.sourceLimit { #expect(isAnswered(number, at: 0)) }
        #expect(!isAnswered(WSDResponder.sourceLimit, at: 1))
        #expect(isAnswered(WSDResponder.sourceLimit, at: 1_000_000_000))
    }

    @Test func messagesAreNumbered() {
        var responder = WSDResponder(WSDEnvelopes.device)
        let hello = Self.text(responder.hello(urls: ["http://a/", "http://b/"]))
        #expect(hello.contains("/Hello</wsa:Action>") && hello.contains("MessageNumber=\"1\""))
        #expect(hello.contains("<wsd:XAddrs>http://a/ http://b/</wsd:XAddrs>"))
        let bye = Self.text(responder.bye())
        #expect(
            bye.contains("/Bye</wsa:Action>") && bye.contains("MessageNumber=\"2\"")
                && !bye.contains("XAddrs"))
    }
}

struct WSDDeviceTests {
    @Test func addressDependsOnlyOnTheIdentity() {
        func address(_ identity: [String], _ name: String) -> String {
            WSDDevice(name: name, version: "1", identity: identity, startSeconds: 0).address
        }
        #expect(address(["a", "b"], "x") == address(["a", "b"], "y"))
        #expect(address(["a", "b"], "x") != address(["ab", ""], "x"))
        let text = address(["a"], "x")
        #expect(text.hasPrefix("urn:uuid:") && text.utf8.count == 45)
        #expect(text.split(separator: "-").map(\.utf8.count) == [17, 4, 4, 4, 12])
        #expect(text.split(separator: "-")[2].hasPrefix("8"), "version 8")
        #expect("89ab".contains(text.split(separator: "-")[3].first!), "variant of RFC 9562")
    }

    @Test func randomUUIDsDiffer() {
        #expect(Set((0..<100).map { _ in UUIDText.random() }).count == 100)
        #expect(UUIDText.text(high: 0, low: 0xFF) == "00000000-0000-0000-0000-0000000000ff")
    }

    @Test func metadataContainsTheCategoryAndTheURL() throws {
        var writer = WSDWriter(WSDEnvelopes.device)
        let bytes = writer.write(.metadata(presentation: "https://h/a?b&c", request: "urn:uuid:<1>"))
        _ = try XMLDocument.parse(bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        for part in [
            "<wsdp:FriendlyName>A &amp; B</wsdp:FriendlyName>", "transfer/GetResponse</wsa:Action>",
            "<wsdp:PresentationUrl>https://h/a?b&amp;c</wsdp:PresentationUrl>",
            ">Storage.NAS</pnpx:DeviceCategory>",
            "<wsa:RelatesTo>urn:uuid:&lt;1&gt;</wsa:RelatesTo>",
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
    }
}
