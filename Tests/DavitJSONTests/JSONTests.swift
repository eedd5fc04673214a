import DavitHTTP
import DavitJSON
import DavitServer
import DavitTesting
import Testing

/// JSON input and output (W053 in docs/coming-from-gcdwebserver.md).
struct JSONTests {
    struct Item: Codable, Equatable, Sendable {
        var name: String
        var count: Int
        var tags: [String]?
    }

    static let client = TestClient(
        Router { routes in
            routes.post("/item", body: .json(Item.self, limitBytes: 100)) { _, item in try .json(item) }
            routes.post("/items", body: .json([Item].self)) { _, items in
                .text("\(items.map(\.count).reduce(0, +))")
            }
            routes.post("/any", body: .json(Anything.self)) { _, _ in .text("read") }
            routes.get("/nan") { _ in try .json(Double.nan) }
            routes.get("/created") { _ in try .json(["path": "a/b"], status: .created) }
        })

    /// Accepts any well-formed JSON.
    struct Anything: Decodable, Sendable {
        init(from decoder: any Decoder) throws {}
    }

    static func send(_ path: String, _ bytes: [UInt8], type: String = "application/json") async throws
        -> TestResponse
    {
        try await client.send("POST", path, [("Content-Type", type)], body: bytes)
    }

    @Test(arguments: [
        "application/json", "APPLICATION/JSON; charset=UTF-8", "application/json; charset=us-ascii",
        "application/vnd.x+json",
    ])
    func valueRoundTrips(type: String) async throws {
        let text = #" {"count": 3, "name": "a/\u00f6", "more": [null, {}]} "#
        let response = try await Self.send("/item", Array(text.utf8), type: type)
        #expect(response.status == 200)
        #expect(response["Content-Type"] == "application/json")
        #expect(
            response.text == #"{"name":"a/ö","count":3}"# || response.text == #"{"count":3,"name":"a/ö"}"#)
        // §8.1: a byte order mark is ignored.
        #expect(
            try await Self.send("/item", [0xEF, 0xBB, 0xBF] + Array(text.utf8), type: type).status == 200)
    }

    @Test func statusCanBeSet() async throws {
        let response = try await Self.client.send("GET", "/created")
        #expect(response.status == 201)
        #expect(response.text == #"{"path":"a/b"}"#)
    }

    static let otherTypes: [(type: String, bytes: [UInt8])] = [
        // Types that a page of another origin can send without a preflight request (X14 in
        // docs/coming-from-gcdwebserver.md).
        ("text/plain", Array("{}".utf8)), ("", Array("{}".utf8)),
        ("application/x-www-form-urlencoded", Array("{}".utf8)),
        ("application/json; charset=utf-16", Array("{}".utf8)),
        ("application/json; charset=x", Array("{}".utf8)),
        // RFC 4627 §3
        ("application/json", [0, 0x7B, 0, 0x7D]), ("application/json", [0x7B, 0, 0x7D, 0]),
        ("application/json", [0xFF, 0xFE, 0x7B, 0, 0x7D, 0]), ("application/json", [0xFE, 0xFF, 0, 0x7B]),
        ("application/json", [0, 0, 0, 0x31]),
    ]

    @Test(arguments: otherTypes)
    func unsupportedTypesReturn415(type: String, bytes: [UInt8]) async throws {
        #expect(try await Self.send("/any", bytes, type: type).status == 415)
    }

    @Test func excessiveLengthIs413WithTheLimit() async throws {
        let text = #"{"name":"\#(String(repeating: "x", count: 100))","count":1}"#
        let response = try await Self.send("/item", Array(text.utf8))
        #expect(response.status == 413)
        #expect(response.text.contains("100 bytes"))
    }

    static let mismatched: [(path: String, text: String, reason: String)] = [
        ("/item", #"{"name":"a"}"#, "no count"), ("/item", #"{"name":"a","count":"1"}"#, "at count"),
        ("/item", #"{"name":"a","count":1.5}"#, "invalid value"),
        ("/item", #"{"name":null,"count":1}"#, "name"),
        ("/item", #"{"name":"a","count":1,"tags":["b",2]}"#, "at tags[1]"),
        ("/item", "[]", "value of the wrong type."),
        ("/item", #"{"name":"a","count":99999999999999999999}"#, "invalid value"),
        ("/items", #"[{"name":"a","count":1},{"name":"a"}]"#, "no [1].count"),
    ]

    @Test(arguments: mismatched)
    func mismatchedStructureIs422WithThePath(path: String, text: String, reason: String) async throws {
        let response = try await Self.send(path, Array(text.utf8))
        #expect(response.status == 422)
        #expect(response.text.contains(reason), "\(response.text)")
    }

    @Test func unencodableValueIs500() async throws {
        #expect(try await Self.client.send("GET", "/nan").status == 500)
    }

    // MARK: RFC 8259, by section

    static let wellFormed: [[UInt8]] = [
        // §2 to §5
        "{}", "[]", " [ ] ", "\t{\r\n}\n", #"{"a":1}"#, #"{"a":[{"b":[]},[]],"a":{}}"#, "[1,2]", "[[[]]]",
        "true",
        "false", "null", #""""#, #"{"":0}"#, #"{"a":1,"b":2}"#,
        // §6
        "0", "-0", "-1", "10", "1.0", "0.10", "1e1", "1E+01", "-0.0e-0", "[-0]",
        // §7
        #""\"\\\/\b\f\n\r\t\u0041""#, #""\uD834\udd1e""#, "\"\u{7F}äö€😀\u{10FFFF}\u{800}\"", #""\u0000""#,
    ].map { Array($0.utf8) }

    @Test(arguments: wellFormed)
    func wellFormedJSONIsAccepted(bytes: [UInt8]) async throws {
        let response = try await Self.send("/any", bytes)
        #expect(response.status == 200, "\(String(decoding: bytes, as: UTF8.self)): \(response.text)")
    }

    static let malformed: [(bytes: [UInt8], offset: Int)] =
        [
            // §2 to §5
            ("", 0), (" ", 1), ("{", 1), ("[", 1), ("]", 0), ("}", 0), ("[1", 2), ("[1,", 3), ("[1,]", 3),
            ("[,1]", 1),
            ("[1 2]", 3), ("{]", 1), ("[}", 1), (#"{"a"}"#, 4), (#"{"a":}"#, 5), (#"{"a":1,}"#, 7),
            ("{a:1}", 1),
            (#"{"a" 1}"#, 5), ("{1:1}", 1), ("1 1", 2), ("{}x", 2), ("{},", 2), ("[1}", 2), (#"{"a":1]"#, 6),
            ("'a'", 0), ("// x", 0), ("\u{B}1", 0), ("tru", 3), ("trueX", 4), ("True", 0), ("nul ", 3),
            ("NaN", 0),
            (#"{"a":1,2}"#, 7),
            // §6
            ("-", 1), ("+1", 0), ("01", 1), ("1.", 2), (".5", 0), ("1.e1", 2), ("1e", 2), ("1e+", 3),
            ("-a", 1),
            ("0x1", 1), ("1_0", 1),
            // §7
            ("\"", 1), ("\"a", 2), ("\"\n\"", 1), ("\"\t\"", 1), (#""\x""#, 2), (#""\"#, 2), (#""\u12"#, 5),
            (#""\u12g4""#, 5), (#""\uD834""#, 1), (#""\uD834x""#, 1), (#""\uD834\n""#, 1),
            (#""\uD834\u0041""#, 1), (#""\uDD1E""#, 1),
        ].map { (Array($0.0.utf8), $0.1) } + [
            // §8.1: UTF-8, and RFC 3629 §3: no overlong forms and no surrogates.
            ([34, 0xC0, 0x80, 34], 1), ([34, 0xC3], 2), ([34, 0xC3, 34], 1), ([34, 0xE0, 0x80, 0x80, 34], 1),
            ([34, 0xED, 0xA0, 0x80, 34], 1), ([34, 0xF4, 0x90, 0x80, 0x80, 34], 1), ([34, 0xFF, 34], 1),
            ([34, 0x80, 34], 1), ([0xC2, 0xA0, 0x31], 0),
        ]

    @Test(arguments: malformed)
    func malformedTextIs400WithTheOffset(bytes: [UInt8], offset: Int) async throws {
        let response = try await Self.send("/any", bytes)
        #expect(response.status == 400, "\(String(decoding: bytes, as: UTF8.self))")
        #expect(
            response.text == "Malformed JSON at byte \(offset).\n",
            "\(String(decoding: bytes, as: UTF8.self))")
    }

    /// The decoder accepts every document that the syntax check accepts, so 422 means that a value has the
    /// wrong type.
    @Test func decoderAcceptsWhatTheSyntaxCheckAccepts() async throws {
        let whole = Array(
            #"{"name":"ä\u00e4\ud834\udd1e","count":-12e0,"tags":["a",true,null,{"b":[0.5]}]}"#.utf8)
        for count in 0..<whole.count {
            let response = try await Self.send("/any", Array(whole.prefix(count)))
            #expect(response.status == 400)
        }
        #expect(try await Self.send("/any", whole).status == 200)
    }

    @Test func nestingIsLimited() async throws {
        for (depth, status) in [(512, 200), (513, 413), (100_000, 413)] as [(Int, UInt16)] {
            let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            let response = try await Self.send("/any", Array(text.utf8))
            #expect(response.status == status)
            if status == 413 { #expect(response.text.contains("512 levels at byte 512")) }
        }
    }

    @Test func contentAtTheLimitIsAccepted() async throws {
        for (count, status) in [(100, 200), (101, 413)] as [(Int, UInt16)] {
            let frame = #"{"name":"","count":1}"#
            let name = String(repeating: "x", count: count - frame.utf8.count)
            let text = #"{"name":"\#(name)","count":1}"#
            #expect(try await Self.send("/item", Array(text.utf8)).status == status)
        }
    }
}
