/// A rule that cannot work, and therefore is not stored.
public struct RuleError: Error, Hashable, Sendable {
    /// The name of the rule; empty if it has none.
    public var rule: String
    /// The member that is wrong, such as `path` or `when[0].matches`; empty for the rule as a whole.
    public var column: String
    /// What is wrong, such as `invalid regular expression`.
    public var problem: String

    init(rule: String = "", column: String, _ problem: String) {
        self.rule = rule
        self.column = column
        self.problem = problem
    }
}
