import DavitEngine
import DavitTesting
import Testing

/// Compares the results of random conditions with those of a slow but simple evaluator (RFC 5323 §5.5,
/// appendix A).
struct SearchLogicTests {
    /// A file as known to the oracle: its length, and an optional property.
    struct File {
        var name: String
        var length: Int
        var value: String?
    }

    static let files = [
        File(name: "a", length: 0, value: nil), File(name: "b", length: 1, value: "b"),
        File(name: "c", length: 2, value: "a"), File(name: "d", length: 3, value: "3"),
        File(name: "e", length: 3, value: ""),
    ]

    indirect enum Condition {
        case and([Condition])
        case or([Condition])
        case not(Condition)
        case length(String, Int)
        case value(String, String)
        case hasValue, isCollection

        /// Evaluates the condition; nil means unknown.
        func holds(for file: File) -> Bool? {
            switch self {
            case .and(let members):
                let all = members.map { $0.holds(for: file) }
                return all.contains(false) ? false : all.contains(nil) ? nil : true
            case .or(let members):
                let all = members.map { $0.holds(for: file) }
                return all.contains(true) ? true : all.contains(nil) ? nil : false
            case .not(let member): return member.holds(for: file).map { !$0 }
            case .length(let name, let number): return Self.compare(name, file.length, number)
            case .value(let name, let text): return file.value.map { Self.compare(name, $0, text) }
            case .hasValue: return file.value != nil
            case .isCollection: return false
            }
        }

        private static func compare<T: Comparable>(_ name: String, _ a: T, _ b: T) -> Bool {
            switch name {
            case "eq": a == b
            case "lt": a < b
            case "lte": a <= b
            case "gt": a > b
            default: a >= b
            }
        }

        var text: String {
            switch self {
            case .and(let members): "<D:and>\(members.map(\.text).joined())</D:and>"
            case .or(let members): "<D:or>\(members.map(\.text).joined())</D:or>"
            case .not(let member): "<D:not>\(member.text)</D:not>"
            case .length(let name, let number):
                DavitEngineTests.compare(name, "D:getcontentlength", "\(number)")
            case .value(let name, let text): DavitEngineTests.compare(name, "x:p", text)
            case .hasValue: "<D:is-defined><D:prop><x:p/></D:prop></D:is-defined>"
            case .isCollection: "<D:is-collection/>"
            }
        }

        static func any(depth: Int, _ generator: inout SeededGenerator) -> Condition {
            let name = ["eq", "lt", "lte", "gt", "gte"].randomElement(using: &generator) ?? "eq"
            func members() -> [Condition] {
                (0..<Int.random(in: 1...3, using: &generator)).map { _ in any(depth: depth - 1, &generator) }
            }
            switch Int.random(in: depth > 0 ? 0...6 : 3...6, using: &generator) {
            case 0: return .and(members())
            case 1: return .or(members())
            case 2: return .not(any(depth: depth - 1, &generator))
            case 3: return .length(name, Int.random(in: 0...4, using: &generator))
            case 4: return .value(name, ["a", "b", "3", ""].randomElement(using: &generator) ?? "a")
            case 5: return .hasValue
            default: return .isCollection
            }
        }
    }

    @Test func everyConditionMatchesTheOracle() async throws {
        let share = try TestShare()
        for file in Self.files {
            let content = String(repeating: "x", count: file.length)
            #expect(try await share.client.send("PUT", "/f\(file.name)", text: content).status == 201)
            guard let value = file.value else { continue }
            #expect(
                try await share.client.send("PROPPATCH", "/f\(file.name)", text: setProperty("p", value))
                    .status == 207)
        }
        var generator = SeededGenerator(seed: 5323)
        for _ in 0..<400 {
            let condition = Condition.any(depth: 4, &generator)
            let expected = Self.files.filter { condition.holds(for: $0) == true }.map { "/f\($0.name)" }
            let files = "<D:and>\(compare("like", "D:displayname", "f_"))\(condition.text)</D:and>"
            #expect(try await share.found(query(files)).sorted() == expected, "\(condition.text)")
        }
    }
}
