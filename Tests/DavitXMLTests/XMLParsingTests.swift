import DavitXML
import Testing

struct XMLParsingTests {
    static let wellFormed: [(document: String, namespace: String, local: String, text: String)] = [
        ("<a/>", "", "a", ""),
        ("<a xmlns='DAV:'>x</a>", "DAV:", "a", "x"),
        ("<DAV:a xmlns:DAV='DAV:'/>", "DAV:", "a", ""),
        ("\u{FEFF}<a>\u{E9}</a>", "", "a", "\u{E9}"),
        ("<?xml version='1.0' encoding='utf-8'?>\n<a>1<b>2</b>3</a>\n", "", "a", "123"),
        // Character data as defined in XML 1.0 §2.4, in all notations.
        ("<a>&lt;&amp;&gt;&#65;&#x42;<![CDATA[<&>]]><!--no--><?no no?></a>", "", "a", "<&>AB<&>"),
        // XML 1.0 §2.11: line ends.
        ("<a>1\r\n2\r3</a>", "", "a", "1\n2\n3"),
        // Namespace names are compared as text and need not be URIs (Namespaces in XML §2.3).
        ("<a xmlns='not a URI'/>", "not a URI", "a", ""),
        ("<a xmlns='x'/>", "x", "a", ""),
        ("<a xmlns='x?b&amp;c&#38;d&amp;#38;e\"'/>", "x?b&c&d&#38;e\"", "a", ""),
        ("<?xml version='1.0' encoding='iso-8859-1'?><a>x</a>", "", "a", "x"),
        // Tags inside comments, CDATA sections and processing instructions are text.
        ("<?p <q '?><!--<a b='--><a><![CDATA[<c d=\"]]></a>", "", "a", "<c d=\""),
    ]

    @Test(arguments: wellFormed)
    func wellFormedDocumentsAreParsed(document: String, namespace: String, local: String, text: String) throws
    {
        let root = try XMLDocument.parse(Array(document.utf8)).root
        #expect(root.namespace == namespace)
        #expect(root.local == local)
        #expect(root.text == text)
    }

    @Test(arguments: wellFormed)
    func utf16DocumentsAreParsedLikeUTF8(document: String, namespace: String, local: String, text: String)
        throws
    {
        let withoutMark = document.hasPrefix("\u{FEFF}") ? String(document.dropFirst()) : document
        for (mark, isBigEndian) in [("\u{FEFF}", true), ("\u{FEFF}", false), ("", true), ("", false)] {
            let bytes = (mark + withoutMark).utf16.flatMap { unit in
                let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
                return isBigEndian ? [high, low] : [low, high]
            }
            let root = try XMLDocument.parse(bytes).root
            #expect(root.namespace == namespace && root.local == local && root.text == text)
        }
    }

    @Test func childrenAreElementsInDocumentOrder() throws {
        let root = try XMLDocument.parse(Array("<a> <b/>x<!--c--><c xmlns='DAV:'>\n<d/></c></a>".utf8)).root
        #expect(root.children.map(\.local) == ["b", "c"])
        #expect(root.children.map(\.line) == [1, 1])
        #expect(root.children[1].children.map(\.line) == [2])
        #expect(root.children[1].isNamed("c", in: "DAV:"))
        #expect(!root.children[1].isNamed("c", in: ""))
        #expect(root.children[0].isNamed("b", in: ""))
        #expect(!root.children[0].isNamed("b", in: "DAV:"))
    }

    @Test func elementKeepsItsDocumentAlive() throws {
        func leaf() throws -> XMLElement {
            try #require(try XMLDocument.parse(Array("<a><b>kept</b></a>".utf8)).root.children.first)
        }
        #expect(try leaf().text == "kept")
    }

    static let malformed: [String] = [
        "", " ", "a", "<", "<a", "<a>", "<a></b>", "<a/><b/>", "<a/>x", "<a b/>", "<a b=c/>", "<a b='<'/>",
        "<a b='1' b='2'/>", "<a>&</a>", "<a>&nothing;</a>", "<a b='&nothing;'/>", "<a>&#0;</a>",
        "<a>&#xFFFE;</a>",
        "<a>]]></a>", "<a><!-- -- --></a>", "<a>\u{1}</a>", "<a>\0</a>", "<a/>\0", "<a/>\0<b/>", "\0<a/>",
        "<?xml version='1.0'?", "<a><?xml version='1.0'?></a>",
        // Namespaces in XML §3, §5 and §6.3.
        "<D:a/>", "<a D:b='c'/>", "<a xmlns:D=''/>", "<a xmlns:xml='urn:x'/>", "<a xmlns:xmlns='urn:x'/>",
        // These documents could not be serialized again, because of the way libxml2 writes declarations.
        "<a xmlns='b&lt;c'/>", "<a xmlns:b='&#60;'/>", "<a xmlns='b&#10;c'/>", "<a><b xmlns='&#9;'/></a>",
        "<a xmlns:b='urn:x' xmlns:c='urn:x' b:d='' c:d=''/>", "<a:b:c xmlns:a='urn:x'/>",
    ]

    @Test(arguments: malformed)
    func malformedDocumentsAreRefused(document: String) {
        #expect { try XMLDocument.parse(Array(document.utf8)) } throws: { error in
            if case .malformed = error as? XMLError { true } else { false }
        }
    }

    static let notUnicode: [[UInt8]] = [
        Array("<a>".utf8) + [0xE9] + Array("</a>".utf8),
        Array("<a>".utf8) + [0xC0, 0xBC] + Array("</a>".utf8),
        Array("<a>".utf8) + [0xED, 0xA0, 0x80] + Array("</a>".utf8),
        Array("<a>x</a>".utf8) + [0xC3],
        // UTF-16 with an incomplete code unit, a lone surrogate, and a NUL.
        [0xFF, 0xFE, 0x3C, 0, 0x61, 0, 0x2F, 0, 0x3E],
        [0xFE, 0xFF, 0, 0x3C, 0, 0x61, 0, 0x3E, 0xD8, 0, 0, 0x3C, 0, 0x2F, 0, 0x61, 0, 0x3E],
        [0xFF, 0xFE, 0x3C, 0, 0x61, 0, 0x2F, 0, 0x3E, 0, 0, 0],
        // UTF-32 and EBCDIC, which libxml2 detects.
        [0, 0, 0, 0x3C, 0, 0, 0, 0x61, 0, 0, 0, 0x2F, 0, 0, 0, 0x3E],
        [0x3C, 0, 0, 0, 0x61, 0, 0, 0, 0x2F, 0, 0, 0, 0x3E, 0, 0, 0],
        [0x4C, 0x6F, 0xA7, 0x94, 0x93],
    ]

    @Test(arguments: notUnicode)
    func unsupportedEncodingsAreRefused(document: [UInt8]) {
        #expect { try XMLDocument.parse(document) } throws: { error in
            if case .malformed = error as? XMLError { true } else { false }
        }
    }

    static let positions: [(String, XMLPosition)] = [
        ("<a>\n\n  <b></c></a>", XMLPosition(line: 3, column: 10)),
        ("<a>\n\0</a>", XMLPosition(line: 2, column: 1)),
    ]

    @Test(arguments: positions)
    func errorReportsThePosition(document: String, position: XMLPosition) {
        #expect(throws: XMLError.malformed(position)) { try XMLDocument.parse(Array(document.utf8)) }
    }

    @Test func everyTruncationIsMalformed() throws {
        let document = Array(
            "<?xml version='1.0'?><!--c--><D:a xmlns:D='DAV:' b='&amp;\u{E9}'><?p i?>t<![CDATA[]]></D:a>".utf8
        )
        _ = try XMLDocument.parse(document)
        for length in 0..<document.count {
            #expect(throws: XMLError.self) { try XMLDocument.parse(Array(document[..<length])) }
        }
    }

    @Test func mutatedDocumentsNeverTrap() {
        let document = Array("<!DOCTYPE a [<!ENTITY b 'c'>]><D:a xmlns:D='DAV:' b='&b;'><!--c--></D:a>".utf8)
        for offset in document.indices {
            for byte in [0, 0x22, 0x26, 0x27, 0x3C, 0x3E, 0x5B, 0x5D, 0x20, 0x80, 0xFF] as [UInt8] {
                var changed = document
                changed[offset] = byte
                if let root = try? XMLDocument.parse(changed).root {
                    #expect(!root.serializedSelfContained().isEmpty)
                }
            }
        }
    }
}
