import DavitHTTP
import DavitWebDAV
import Testing

struct IfHeaderEvaluationTests {
    /// Three locked resources and one without a lock; everything else is unmapped.
    static func state(_ tag: String?) -> IfHeader.ResourceState {
        switch tag {
        case nil, "/own": .init(tokens: ["urn:own", "urn:both"], entityTag: .init(opaque: Array("o".utf8)))
        case "/other": .init(tokens: ["urn:other", "urn:both"], entityTag: .init(opaque: Array("x".utf8)))
        case "/weak": .init(entityTag: .init(opaque: Array("w".utf8), isWeak: true))
        case "/collection": .init(tokens: ["urn:collection"])
        default: .unmapped
        }
    }

    static let fields: [(String, Bool)] = [
        // RFC 4918 §10.4.3: at least one list must hold, and a list holds if all of its conditions hold.
        ("(<urn:own>)", true), ("(<urn:none>)", false), ("(<urn:own> <urn:both>)", true),
        ("(<urn:own> <urn:none>)", false), ("(<urn:none>) (<urn:own>)", true),
        ("(<urn:none>) (<urn:other>)", false),
        ("([\"o\"])", true), ("([\"O\"])", false), ("(<urn:own> [\"o\"])", true),
        ("(<urn:own> [\"x\"])", false),
        // §10.4.7 and §10.4.8.
        ("(Not <urn:own>)", false), ("(Not <urn:none>)", true), ("(<urn:none>) (Not <DAV:no-lock>)", true),
        ("(<urn:own> Not <urn:both>)", false), ("(Not [\"x\"] [\"o\"])", true),
        // Tokens are compared exactly.
        ("(<URN:own>)", false), ("(<urn:own/>)", false),
        // §10.4.4, RFC 9110 §8.8.3.2: strong comparison.
        ("([W/\"o\"])", false), ("(Not [W/\"o\"])", true), ("</weak> ([W/\"w\"])", false),
        ("</weak> ([\"w\"])", false),
        // §10.4.9 and §10.4.10: each list applies to the resource of its tag.
        ("</other> (<urn:other>)", true), ("</other> (<urn:own>)", false), ("</own> (<urn:own>)", true),
        ("</other> (<urn:none>) </own> (<urn:own>)", true), ("</other> (<urn:none>) (<urn:both>)", true),
        ("</collection> (<urn:collection>)", true), ("</collection> ([\"\"])", false),
        // §10.4.11: no condition matches an unmapped resource.
        ("</none> (<urn:own>)", false), ("</none> ([\"o\"])", false), ("</none> (Not [\"o\"])", true),
        ("</none> (Not <urn:own>)", true),
    ]

    @Test(arguments: fields)
    func fieldIsEvaluated(field: String, isTrue: Bool) throws {
        let header = try IfHeader(parsing: Array(field.utf8).span)
        #expect(header.evaluate(Self.state) == isTrue)
    }

    static let submitted: [(String, Set<String>)] = [
        ("(<urn:a>)", ["urn:a"]), ("([\"a\"])", []),
        // §7.5: tokens anywhere in the field are submitted, even in a list that does not hold.
        ("(<urn:a> Not <urn:b>) (<urn:c> [\"x\"])", ["urn:a", "urn:b", "urn:c"]),
        ("</x> (<urn:a>) </y> (<urn:a> <urn:b>)", ["urn:a", "urn:b"]),
    ]

    @Test(arguments: submitted)
    func submittedTokensAreCollected(field: String, tokens: Set<String>) throws {
        #expect(try IfHeader(parsing: Array(field.utf8).span).submittedTokens == tokens)
    }

    @Test func evaluationStopsEarly() throws {
        let field = "</a> (<urn:x>) (<urn:y>) </b> (Not <urn:x>) </c> (<urn:x>)"
        let header = try IfHeader(parsing: Array(field.utf8).span)
        var asked: [String?] = []
        let isTrue = header.evaluate { tag in
            asked.append(tag)
            return .unmapped
        }
        #expect(isTrue && asked == ["/a", "/b"])
    }

    struct Unavailable: Error {}

    @Test func errorsOfTheStateAreThrown() throws {
        let header = try IfHeader(parsing: Array("(<urn:x>)".utf8).span)
        #expect(throws: Unavailable.self) {
            try header.evaluate { _ throws(Unavailable) in throw Unavailable() }
        }
    }

    /// Compares every field of up to two lists with up to two conditions each with a direct implementation of
    /// the definition.
    @Test func evaluationMatchesTheDefinition() {
        let states: [IfHeader.Condition.State] = [
            .stateToken("urn:own"), .stateToken("urn:none"), .entityTag(.init(opaque: Array("o".utf8))),
            .entityTag(.init(opaque: Array("o".utf8), isWeak: true)),
        ]
        let truths = [true, false, true, false]
        var conditions: [(IfHeader.Condition, Bool)] = []
        for (state, truth) in zip(states, truths) {
            for isNegated in [false, true] {
                conditions.append((.init(state, isNegated: isNegated), truth != isNegated))
            }
        }
        var lists = conditions.map { (IfHeader.List([$0.0]), $0.1) }
        for first in conditions {
            for second in conditions {
                lists.append((IfHeader.List([first.0, second.0]), first.1 && second.1))
            }
        }
        for first in lists {
            #expect(IfHeader(lists: [first.0]).evaluate(Self.state) == first.1)
            for second in lists {
                #expect(IfHeader(lists: [first.0, second.0]).evaluate(Self.state) == (first.1 || second.1))
            }
        }
    }
}
