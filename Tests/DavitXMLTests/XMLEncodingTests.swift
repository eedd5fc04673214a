import DavitHTTP
import DavitXML
import Testing

/// The encoding of a document (RFC 7303 §3, XML 1.0 §4.3.3 and appendix F).
struct XMLEncodingTests {
    enum Form: Sendable { case utf8, latin1, utf16Big, utf16Little }

    static func bytes(_ text: String, _ form: Form, mark: Bool = false) -> [UInt8] {
        let text = (mark ? "\u{FEFF}" : "") + text
        switch form {
        case .utf8: return Array(text.utf8)
        case .latin1: return text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        case .utf16Big: return text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        case .utf16Little: return text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var declared: String?
        var charset: Charset?
        var form = Form.utf8
        var mark = false
        /// The parsed text; nil if the document is refused.
        var text: String? = "caf\u{E9}"
        var testDescription: String { "\(declared ?? "-") \(charset.map { "\($0)" } ?? "-") \(form) \(mark)" }
    }

    static let rows: [Row] = [
        // Documents that specify their encoding only in the declaration, or not at all.
        Row(), Row(declared: "utf-8"), Row(declared: "UTF-8"), Row(declared: "uTf8"),
        Row(declared: "ISO-8859-1", form: .latin1), Row(declared: "latin1", form: .latin1),
        Row(declared: "Windows-1252", form: .latin1),
        Row(declared: "iso-8859-1", text: "caf\u{C3}\u{A9}"),
        Row(declared: "us-ascii", text: nil), Row(form: .latin1, text: nil),
        Row(declared: "utf-8", form: .latin1, text: nil),
        // Unknown encoding names.
        Row(declared: "bogus", text: nil), Row(declared: "", text: nil), Row(declared: "utf-7", text: nil),
        Row(declared: "ucs-4", text: nil), Row(declared: "ebcdic-us", text: nil),
        Row(declared: "utf-8 ", text: nil),
        Row(declared: String(repeating: "u", count: 300), text: nil),
        Row(declared: "bogus", charset: .utf8, text: nil), Row(declared: "bogus", mark: true, text: nil),
        Row(declared: "bogus", form: .utf16Big, mark: true, text: nil),
        Row(declared: "bogus", form: .utf16Little, text: nil),
        // UTF-16, detected by its byte order mark or first character.
        Row(declared: "UTF-16", form: .utf16Big, mark: true),
        Row(declared: "UTF-16", form: .utf16Little, mark: true),
        Row(declared: "utf-16", form: .utf16Big), Row(declared: "utf-16", form: .utf16Little),
        Row(form: .utf16Little, mark: true), Row(form: .utf16Big),
        Row(declared: "utf-8", form: .utf16Little, mark: true), Row(declared: "iso-8859-1", form: .utf16Big),
        // A document in UTF-8 that declares UTF-16, as .NET writes it.
        Row(declared: "utf-16"), Row(declared: "utf-16", mark: true),
        // The byte order mark takes precedence over the charset parameter and the declaration.
        Row(declared: "iso-8859-1", mark: true), Row(charset: .latin1, mark: true),
        Row(charset: .utf8, form: .utf16Big, mark: true),
        Row(charset: .utf16BigEndian, form: .utf16Little, mark: true),
        Row(declared: "iso-8859-1", charset: .latin1, form: .utf16Little, mark: true),
        // The charset parameter takes precedence over the declaration.
        Row(charset: .latin1, form: .latin1), Row(declared: "utf-8", charset: .latin1, form: .latin1),
        Row(declared: "utf-8", charset: .latin1, text: "caf\u{C3}\u{A9}"),
        Row(declared: "iso-8859-1", charset: .utf8),
        Row(declared: "iso-8859-1", charset: .utf8, form: .latin1, text: nil),
        Row(charset: .usASCII, text: nil), Row(declared: "utf-8", charset: .utf8),
        Row(charset: .utf16, form: .utf16Big), Row(charset: .utf16, form: .utf16Little),
        Row(charset: .utf16LittleEndian, form: .utf16Little), Row(charset: .utf16BigEndian, form: .utf16Big),
        Row(charset: .utf16BigEndian, form: .utf16Little, text: nil), Row(charset: .utf16, text: nil),
        Row(charset: .utf8, form: .utf16Little, text: nil),
    ]

    @Test(arguments: rows)
    func documentIsReadInItsEncoding(_ row: Row) throws {
        for quote in ["\"", "'"] {
            let declaration =
                row.declared.map { "<?xml version=\"1.0\" encoding=\(quote)\($0)\(quote)?>" } ?? ""
            let bytes = Self.bytes("\(declaration)<a>caf\u{E9}</a>", row.form, mark: row.mark)
            if let text = row.text {
                let document = try XMLDocument.parse(bytes, charset: row.charset)
                #expect(document.root.text == text)
                // The stored form is UTF-8.
                let stored = Array("<a xmlns=\"\">\(text)</a>".utf8)
                #expect(document.root.serializedSelfContained() == stored)
            } else {
                #expect { try XMLDocument.parse(bytes, charset: row.charset) } throws: { error in
                    if case .malformed = error as? XMLError { true } else { false }
                }
            }
        }
    }

    static let declarations = [
        "<?xml version='1.0'\n\tencoding = \"iso-8859-1\" standalone='yes' ?>",
        "<?xml version=\"1.0\" encoding\r\n=\r\n'ISO-8859-1'?>", "<?xml\tversion='1.1' encoding='l1'?>",
    ]

    @Test(arguments: declarations)
    func declarationsMayContainWhiteSpace(_ declaration: String) throws {
        let bytes = Self.bytes("\(declaration)<a>\u{E9}</a>", .latin1)
        #expect(try XMLDocument.parse(bytes).root.text == "\u{E9}")
    }

    /// All protections apply to the decoded text, in every encoding.
    static let attacks: [(document: String, error: XMLError?)] = [
        ("<!DOCTYPE a><a/>", nil), ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", nil),
        ("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", .externalEntity(XMLPosition(line: 0, column: 0))),
        (
            "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
            .externalEntity(XMLPosition(line: 0, column: 0))
        ),
        ("<a>\0</a>", nil), ("<a/>\0<!DOCTYPE b>", nil), ("<a>\u{1}</a>", nil), ("<a>\u{FFFE}</a>", nil),
        ("<a b='<'/>", nil),
    ]

    @Test(arguments: attacks)
    func attacksAreRefusedInEveryEncoding(document: String, error: XMLError?) {
        let isLatin1 = document.unicodeScalars.allSatisfy { $0.value < 256 }
        var forms = [
            Self.bytes(document, .utf8), Self.bytes(document, .utf16Big, mark: true),
            Self.bytes(document, .utf16Little, mark: true), Self.bytes(document, .utf16Big),
            Self.bytes(document, .utf16Little),
        ]
        if isLatin1 {
            forms.append(Self.bytes("<?xml version='1.0' encoding='latin1'?>" + document, .latin1))
        }
        for bytes in forms {
            #expect { try XMLDocument.parse(bytes) } throws: { thrown in
                switch (thrown as? XMLError, error) {
                case (.externalEntity, .externalEntity), (.malformed, nil): true
                default: false
                }
            }
        }
    }

    /// The limit applies to the received bytes, not to the decoded bytes.
    @Test func limitAppliesToReceivedBytes() throws {
        let text =
            "<?xml version='1.0' encoding='latin1'?><a>" + String(repeating: "\u{E9}", count: 1000) + "</a>"
        for (form, charset) in [(Form.latin1, nil), (.utf16Big, Charset.utf16BigEndian)] {
            let bytes = Self.bytes(text, form)
            var limits = XMLLimits()
            limits.bytes = bytes.count
            #expect(
                try XMLDocument.parse(bytes, charset: charset, limits: limits).root.text.utf16.count == 1000)
            limits.bytes -= 1
            #expect(throws: XMLError.self) { try XMLDocument.parse(bytes, charset: charset, limits: limits) }
        }
    }

    /// Documents are truncated at every byte, including inside code units and surrogate pairs.
    @Test func everyTruncationIsMalformed() throws {
        let text =
            "<?xml version='1.0' encoding='utf-16'?><D:a xmlns:D='DAV:' b='\u{1F600}'>\u{10348}\u{E9}</D:a>"
        for form in [Form.utf16Big, .utf16Little] {
            for mark in [true, false] {
                let bytes = Self.bytes(text, form, mark: mark)
                let root = try XMLDocument.parse(bytes).root
                #expect(root.text == "\u{10348}\u{E9}")
                for length in 0..<bytes.count {
                    #expect(throws: XMLError.self) { try XMLDocument.parse(Array(bytes[..<length])) }
                }
                // Lone and swapped surrogates are refused.
                var swapped = bytes
                let pair = bytes.count - 2 * "\u{10348}\u{E9}</D:a>".utf16.count
                for offset in 0..<2 { swapped.swapAt(pair + offset, pair + 2 + offset) }
                #expect(throws: XMLError.self) { try XMLDocument.parse(swapped) }
            }
        }
    }
}
