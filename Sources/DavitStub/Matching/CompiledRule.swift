internal import DavitFaults
internal import DavitHTTP
internal import DavitSQLite

/// A rule that has been checked, with everything that is needed to apply it.
final class CompiledRule: Sendable {
    let rule: StubRule
    let path: StubPath
    let conditions: [RequestCondition]
    let checks: [RequestCondition]
    /// The templates of the replies that have one, by index.
    let templates: [Int: Template]
    /// Nil if the rule has no faults.
    let faults: FaultInjector?
    /// Distinguishes the random numbers of this rule from those of others.
    let number: UInt64
    /// Whether the rule can be tried in microseconds, without regular expressions, conditions, checks and values in
    /// the content.
    let isFast: Bool
    /// The conditions that find the values in the content for all templates.
    let subjects: [JSONValue: RequestCondition]

    /// - Parameters:
    ///   - folder: the folder of files for replies and schemas.
    ///   - seed: for random faults.
    /// - Throws: ``RuleError`` if the rule cannot work.
    init(_ rule: StubRule, folder: String, seed: UInt64) throws(RuleError) {
        self.rule = rule
        // FNV-1a, so that the numbers depend only on the name and the seed.
        number = rule.name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        do throws(RuleError) {
            path = try StubPath(rule.path)
            try Self.check(rule, path)
            var templates: [Int: Template] = [:]
            for (index, reply) in rule.replies.enumerated() {
                switch reply.content {
                case .template(let text):
                    templates[index] = try Template(text, column: "replies[\(index)].template")
                case .file(let name):
                    try StubFile.check(name, in: folder, column: "replies[\(index)].file")
                default: break
                }
            }
            self.templates = templates
            conditions = try Self.compile(rule.conditions, "when", folder)
            checks = try Self.compile(rule.checks, "checks", folder)
            faults = try Self.faults(rule.faults, seed: seed ^ number)
        } catch {
            throw RuleError(rule: rule.name, column: error.column, error.problem)
        }
        subjects = templates.values.reduce(into: [:]) { $0.merge($1.subjects) { first, _ in first } }
        let hasPattern = if case .regex = path.kind { true } else { false }
        isFast = conditions.isEmpty && checks.isEmpty && subjects.isEmpty && !hasPattern
    }

    private static func compile(
        _ conditions: [JSONValue], _ column: String, _ folder: String
    ) throws(RuleError) -> [RequestCondition] {
        var compiled: [RequestCondition] = []
        for (index, condition) in conditions.enumerated() {
            compiled.append(try RequestCondition(condition, column: "\(column)[\(index)]", folder: folder))
        }
        return compiled
    }

    private static func check(_ rule: StubRule, _ path: StubPath) throws(RuleError) {
        if rule.isCollection {
            guard case .segments(let segments) = path.kind, segments.last != .text([]) else {
                throw RuleError(
                    column: "path", "the path of a collection has no wildcards and no slash at its end")
            }
            if !rule.replies.isEmpty { throw RuleError(column: "replies", "a collection has no replies") }
            if !rule.methods.isEmpty { throw RuleError(column: "methods", "a collection has no methods") }
        } else if rule.replies.isEmpty {
            throw RuleError(column: "replies", "a rule needs a reply, or \"collection\": true")
        }
        if let scenario = rule.scenario, let from = scenario.from, from == scenario.to {
            throw RuleError(column: "scenario.to", "the state would never change")
        }
        for (index, reply) in rule.replies.enumerated() where reply.state != nil && rule.scenario == nil {
            throw RuleError(column: "replies[\(index)].state", "the rule has no scenario")
        }
        for (index, reply) in rule.replies.enumerated() {
            for field in reply.fields where framingFields.contains(field.name.lowercased()) {
                throw RuleError(
                    column: "replies[\(index)].fields.\(field.name)",
                    "the server writes this field; for a wrong length, use the fault length-error")
            }
        }
        if rule.choice == .random, rule.replies.reduce(0, { $0 + $1.weight }) == 0 {
            throw RuleError(column: "replies", "the weight of all replies is 0")
        }
    }

    /// Fields that belong to the connection (RFC 9112).
    private static let framingFields: Set<String> = [
        "connection", "content-length", "keep-alive", "trailer", "transfer-encoding", "upgrade",
    ]

    private static func faults(_ text: String, seed: UInt64) throws(RuleError) -> FaultInjector? {
        if text.allSatisfy({ $0 == " " }) { return nil }
        guard !text.contains(where: \.isNewline) else {
            throw RuleError(column: "faults", "has several lines")
        }
        do throws(FaultRuleError) {
            let lines = text.split(separator: ";").map { "* /** \($0)\n" }.joined()
            return FaultInjector(try FaultRuleSet(parsing: "seed=\(seed)\n\(lines)"))
        } catch {
            throw RuleError(column: "faults", "\(error.text): \(error.problem)")
        }
    }
}
