internal import DavitStore
internal import DavitWebDAV

/// A truth value of three-valued logic (RFC 5323 §5.5.1).
enum Truth: Hashable, Sendable {
    case yes, no, unknown

    init(_ value: Bool) { self = value ? .yes : .no }

    static prefix func ! (truth: Truth) -> Truth {
        switch truth {
        case .yes: .no
        case .no: .yes
        case .unknown: .unknown
        }
    }
}

/// A search condition over numbered tests. No deeper than ``XMLLimits/depth``.
indirect enum SearchExpression: Sendable {
    case and([SearchExpression])
    case or([SearchExpression])
    case not(SearchExpression)
    /// Index in ``SearchProgram/tests``.
    case test(Int)
}

/// An operator on one property. Properties, literals, patterns and language ranges are indexes of arrays of ``SearchProgram``,
/// so that a copy of a test refers to no object.
///
/// A comparison is unknown if the property is undefined, contains elements or cannot be converted;
/// `is-collection` and `is-defined` are never unknown.
enum SearchTest: Sendable {
    case comparison(
        SearchCondition.Comparison, operand: Int, literal: Int, SearchLiteral.ValueType, isCaseless: Bool)
    case like(operand: Int, pattern: Int, isCaseless: Bool)
    case isCollection
    case isDefined(operand: Int)
    case languageDefined(operand: Int)
    case languageMatches(operand: Int, range: Int)
}

/// The condition and the order of a query, compiled once for all resources. Each property occurs once, so
/// that its value is read, and its text decoded, only once per resource.
struct SearchProgram: Sendable {
    /// Nil for a query without a condition.
    private(set) var expression: SearchExpression?
    private(set) var tests: [SearchTest] = []
    private(set) var operands: [SearchOperand] = []
    /// The number of `displayname`, if it is an operand.
    private(set) var nameOperand: Int?
    /// The sort properties, as indexes of operands.
    private(set) var order: [Int] = []
    /// Nil for a literal that is not valid for its type: the comparison is unknown.
    private(set) var literals: [SearchValue?] = []
    private(set) var matchers: [SearchMatcher] = []
    /// In lowercase.
    private(set) var languageRanges: [String] = []
    let alphabet: SearchAlphabet

    init(_ query: SearchQuery) {
        var compiler = Compiler()
        expression = query.condition.map { compiler.compile($0) }
        order = query.order.map { compiler.number(of: $0.property) }
        tests = compiler.tests
        operands = compiler.operands
        nameOperand = operands.firstIndex(of: .live(.displayname))
        literals = compiler.literals
        languageRanges = compiler.languageRanges
        let alphabet = SearchAlphabet(compiler.patterns)
        self.alphabet = alphabet
        matchers = compiler.patterns.map { SearchMatcher($0, alphabet) }
    }

    private struct Compiler {
        var tests: [SearchTest] = []
        var operands: [SearchOperand] = []
        var literals: [SearchValue?] = []
        var patterns: [SearchPattern] = []
        var languageRanges: [String] = []
        private var numbers: [SearchOperand: Int] = [:]

        mutating func number(of name: PropertyName) -> Int {
            let operand = SearchOperand(name)
            if let known = numbers[operand] { return known }
            numbers[operand] = operands.count
            operands.append(operand)
            return operands.count - 1
        }

        mutating func compile(_ condition: SearchCondition) -> SearchExpression {
            switch condition {
            case .and(let members): return .and(compileCheapFirst(members))
            case .or(let members): return .or(compileCheapFirst(members))
            case .not(let member): return .not(compile(member))
            case .comparison(let comparison, let name, let literal, let isCaseless):
                let type = literal.type ?? SearchOperand(name).type ?? .string
                let value = SearchValue(literal.text, as: type)
                literals.append(isCaseless ? value?.lowercased : value)
                return add(
                    .comparison(
                        comparison, operand: number(of: name), literal: literals.count - 1, type,
                        isCaseless: isCaseless))
            case .like(let name, let pattern, let isCaseless):
                patterns.append(isCaseless ? pattern.lowercased : pattern)
                return add(
                    .like(operand: number(of: name), pattern: patterns.count - 1, isCaseless: isCaseless))
            case .isCollection: return add(.isCollection)
            case .isDefined(let name): return add(.isDefined(operand: number(of: name)))
            case .languageDefined(let name): return add(.languageDefined(operand: number(of: name)))
            case .languageMatches(let name, let range):
                languageRanges.append(range.lowercased())
                return add(
                    .languageMatches(operand: number(of: name), range: languageRanges.count - 1))
            }
        }

        /// Compiles members, and moves the cheap ones to the front: they often decide the result, and the order
        /// of the members does not affect it.
        private mutating func compileCheapFirst(_ members: [SearchCondition]) -> [SearchExpression] {
            let compiled = members.map { compile($0) }
            return compiled.filter { isCheap($0) } + compiled.filter { !isCheap($0) }
        }

        /// Whether a condition needs only numbers and times that are part of the metadata of a member.
        private func isCheap(_ expression: SearchExpression) -> Bool {
            switch expression {
            case .and(let members), .or(let members): members.allSatisfy { isCheap($0) }
            case .not(let member): isCheap(member)
            case .test(let number):
                switch tests[number] {
                case .isCollection: true
                case .comparison(_, let operand, _, let type, _):
                    type != .string && operands[operand].isInMetadata
                default: false
                }
            }
        }

        private mutating func add(_ test: SearchTest) -> SearchExpression {
            tests.append(test)
            return .test(tests.count - 1)
        }
    }
}

extension SearchCondition.Comparison {
    /// - Parameter order: The result of comparing the property's value with the literal: -1, 0 or 1.
    func holds(_ order: Int) -> Bool {
        switch self {
        case .eq: order == 0
        case .lt: order < 0
        case .lte: order <= 0
        case .gt: order > 0
        case .gte: order >= 0
        }
    }
}
