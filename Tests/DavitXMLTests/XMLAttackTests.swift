import DavitXML
import Testing

struct XMLAttackTests {
    /// RFC 4918 §16: external references are distinguished from other declarations.
    static let external: [String] = [
        "<!DOCTYPE a SYSTEM 'http://example.com/a.dtd'><a/>",
        "<!DOCTYPE a PUBLIC '-//X//Y' 'http://example.com/a.dtd'><a/>",
        "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>",
        "<!DOCTYPE a [<!ELEMENT a ANY><!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>",
        "<!DOCTYPE a [<!ENTITY e PUBLIC 'p' 'http://example.com/'>]><a/>",
        "<!DOCTYPE a [<!ENTITY % e SYSTEM 'http://example.com/'>%e;]><a/>",
        "<!DOCTYPE a [<!ENTITY b 'c'><!ENTITY e SYSTEM 'e'>]><a/>",
        "<!DOCTYPE a [<!NOTATION n SYSTEM 'n'><!ENTITY e SYSTEM 'e' NDATA n>]><a/>",
    ]

    @Test(arguments: external)
    func externalEntitiesAreRefused(document: String) {
        #expect { try XMLDocument.parse(Array(document.utf8)) } throws: { error in
            if case .externalEntity = error as? XMLError { true } else { false }
        }
    }

    static let declared: [String] = [
        "<!DOCTYPE a><a/>",
        "<!DOCTYPE a []><a/>",
        "<!DOCTYPE a [<!--c--><?p i?><!ELEMENT a ANY>]><a/>",
        "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
        "<!DOCTYPE a [<!ENTITY b 'c'>]><a d='&b;'/>",
        "<!DOCTYPE a [<!ENTITY % b '<!ELEMENT a ANY>'>%b;]><a/>",
        "<!DOCTYPE a [<!ENTITY b '&b;'>]><a>&b;</a>",
        "<!DOCTYPE a [<!ATTLIST a b CDATA 'c' d (e|f) 'e'>]><a/>",
        "<!DOCTYPE a [<!ATTLIST a xmlns:D CDATA 'DAV:'>]><D:a/>",
    ]

    @Test(arguments: declared)
    func otherDocumentTypeDeclarationsAreRefused(document: String) {
        #expect { try XMLDocument.parse(Array(document.utf8)) } throws: { error in
            if case .malformed = error as? XMLError { true } else { false }
        }
    }

    @Test func entityBombIsRefusedEarly() {
        var document = "<!DOCTYPE a [<!ENTITY e0 'ha'>"
        for level in 1...40 {
            let reference = "&e\(level - 1);"
            document += "<!ENTITY e\(level) '\(reference)\(reference)\(reference)\(reference)'>"
        }
        document += "]><a>&e40;</a>"
        #expect(throws: XMLError.self) { try XMLDocument.parse(Array(document.utf8)) }
    }

    @Test func manyDefaultAttributesAreRefusedEarly() {
        let list = (0..<70_000).map { "b\($0) CDATA ''" }.joined(separator: " ")
        #expect(throws: XMLError.self) {
            try XMLDocument.parse(Array("<!DOCTYPE a [<!ATTLIST a \(list)>]><a/>".utf8.prefix(1 << 20)))
        }
    }

    /// Each document is exactly at its limit; with one more item it exceeds the limit.
    static let limits: [(XMLLimits.Kind, make: @Sendable (Int) -> String, limit: Int)] = [
        (.depth, { String(repeating: "<a>", count: $0) + String(repeating: "</a>", count: $0) }, 64),
        (.attributes, { count in "<a" + (0..<count).map { " b\($0)='>'" }.joined() + "/>" }, 64),
        (.attributes, { count in "<a" + (0..<count).map { " xmlns:b\($0)=\"'\"" }.joined() + "/>" }, 64),
        (
            .declarations,
            { count in
                let declare = { (range: Range<Int>) in range.map { " xmlns:b\($0)='c'" }.joined() }
                let levels = stride(from: 0, to: count, by: 50).map {
                    "<a\(declare($0..<min($0 + 50, count)))>"
                }
                return levels.joined() + String(repeating: "</a>", count: levels.count)
            }, 256
        ),
        (.nodes, { "<a>" + String(repeating: "<b/>", count: $0 - 1) + "</a>" }, 50_000),
        (.nodes, { "<a>" + String(repeating: "<!---->", count: $0 - 1) + "</a>" }, 50_000),
        (.nodes, { "<a>" + String(repeating: "<?b?>", count: $0 - 1) + "</a>" }, 50_000),
        (.nodes, { "<a>" + String(repeating: "<b c=''/>", count: ($0 - 1) / 2) + "<b/></a>" }, 50_000),
        (.nameBytes, { "<\(String(repeating: "a", count: $0))/>" }, 1024),
        (.nameBytes, { "<a \(String(repeating: "b", count: $0))=''/>" }, 1024),
        (.nameBytes, { "<a xmlns='\(String(repeating: "b", count: $0))'/>" }, 1024),
        (.nameBytes, { "<a xmlns:\(String(repeating: "b", count: $0))='c'/>" }, 1024),
        (.nameBytes, { "<a xmlns:b='\(String(repeating: "c", count: $0))'/>" }, 1024),
        (.bytes, { "<a>" + String(repeating: "b", count: $0 - 7) + "</a>" }, 1 << 20),
    ]

    @Test(arguments: limits)
    func limitsAreExact(kind: XMLLimits.Kind, make: @Sendable (Int) -> String, limit: Int) throws {
        _ = try XMLDocument.parse(Array(make(limit).utf8))
        for excess in [1, 1000] {
            #expect { try XMLDocument.parse(Array(make(limit + excess).utf8)) } throws: { error in
                if case .limitExceeded(kind, _) = error as? XMLError { true } else { false }
            }
        }
    }

    @Test func attributesAreCountedBeforeTheyAreCompared() {
        // A quadratic comparison of 100,000 names would take five billion steps.
        let names = (0..<100_000).map { " b\($0)=''" }.joined()
        #expect(throws: XMLError.limitExceeded(.attributes, XMLPosition(line: 2, column: 1))) {
            try XMLDocument.parse(Array("\n<a\(names)/>".utf8.prefix(1 << 20)))
        }
    }

    /// The beginnings of inputs of one mebibyte, and the texts that are repeated after them and make libxml2
    /// copy, compare or report errors repeatedly.
    static let repeated: [(String, String)] = [
        ("<a>", "<!--"), ("<a>", "<!-- -- -->"), ("<?a?><a>", "<!-- --"), ("<a b=c\"", "<!--"),
        ("<a><? ", "<!--"),
        ("<a><?\u{D7} ", "<!--"), ("<a><?xml ", "<!--"), ("<?xml ?", "<!--"),
        ("<a><![CDATA[]]]]><![cdata[", "<!--"),
        ("<!DOCTYPE a [", "<!--"), ("<!DOCTYPE a [", "<!ENTITY b 'c'>"),
        ("<!DOCTYPE a [<!ATTLIST a ", "b CDATA 'c' "),
        ("<a><b></c", "<!--"), ("<a>", "<"), ("<a>", "&"), ("<a>", "]]>"), ("<a>", "</b>"),
        ("<a>", "<b c=\""), ("<a", " b='"),
        ("<a>", "<b:c/>"), ("<a>", "<b"), ("<a", " "), ("<", "a"), ("<a>&", "a"),
    ]

    @Test(.timeLimit(.minutes(15)), arguments: repeated)
    func repetitionTakesLinearTime(start: String, piece: String) {
        let document = start + String(repeating: piece, count: (1 << 20) / piece.utf8.count)
        #expect(throws: XMLError.self) { try XMLDocument.parse(Array(document.utf8.prefix(1 << 20))) }
    }

    @Test func excessiveDepthIsRefusedAtAnySize() {
        for depth in [65, 255, 256, 257, 300_000] {
            let document = Array(String(repeating: "<a>", count: depth).utf8)
            #expect { try XMLDocument.parse(document) } throws: { error in
                if case .limitExceeded(.depth, _) = error as? XMLError { true } else { false }
            }
        }
    }

    @Test func severalThreadsCanParseConcurrently() async {
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let good = try? XMLDocument.parse(Array("<a>\(number)</a>".utf8)).root.text
                    let bad = try? XMLDocument.parse(Array("<a>\(number)</b>".utf8))
                    return good == "\(number)" && bad == nil
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
