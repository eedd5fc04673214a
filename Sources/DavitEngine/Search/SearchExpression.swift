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

/// A search condition, its literals read once for all resources.
///
/// What is undefined, has elements inside, or cannot be converted makes a comparison unknown; `is-defined` never is.
indirect enum SearchExpression: Sendable {
    case and([SearchExpression])
    case or([SearchExpression])
    case not(SearchExpression)
    /// A nil value is one that the literal does not have: the comparison is unknown.
    case comparison(
        SearchCondition.Comparison, SearchOperand, SearchValue?, SearchLiteral.ValueType, isCaseless: Bool)
    case like(SearchOperand, SearchPattern, isCaseless: Bool)
    case isCollection
    case isDefined(SearchOperand)
    case languageDefined(SearchOperand)
    case languageMatches(SearchOperand, String)

    init(_ condition: SearchCondition) {
        switch condition {
        case .and(let members): self = .and(members.map { SearchExpression($0) })
        case .or(let members): self = .or(members.map { SearchExpression($0) })
        case .not(let member): self = .not(SearchExpression(member))
        case .comparison(let comparison, let name, let literal, let isCaseless):
            let operand = SearchOperand(name)
            let type = literal.type ?? operand.type ?? .string
            let value = SearchValue(literal.text, as: type)
            self = .comparison(
                comparison, operand, isCaseless ? value?.lowercased : value, type, isCaseless: isCaseless)
        case .like(let name, let pattern, let isCaseless):
            self = .like(
                SearchOperand(name), isCaseless ? pattern.lowercased : pattern, isCaseless: isCaseless)
        case .isCollection: self = .isCollection
        case .isDefined(let name): self = .isDefined(SearchOperand(name))
        case .languageDefined(let name): self = .languageDefined(SearchOperand(name))
        case .languageMatches(let name, let range):
            self = .languageMatches(SearchOperand(name), range.lowercased())
        }
    }

    /// Every property that the condition looks at.
    var operands: [SearchOperand] {
        switch self {
        case .and(let members), .or(let members): members.flatMap(\.operands)
        case .not(let member): member.operands
        case .comparison(_, let operand, _, _, _), .like(let operand, _, _), .isDefined(let operand),
            .languageDefined(let operand), .languageMatches(let operand, _):
            [operand]
        case .isCollection: []
        }
    }

    func truth(of subject: SearchSubject) throws(WebDAVError) -> Truth {
        switch self {
        case .and(let members): return try Self.decide(members, subject, by: .no)
        case .or(let members): return try Self.decide(members, subject, by: .yes)
        case .not(let member): return !(try member.truth(of: subject))
        case .comparison(let comparison, let operand, let literal, let type, let isCaseless):
            guard let literal, case .value(let value, _) = try subject.read(operand),
                let converted = value.converted(to: type),
                let order = (isCaseless ? converted.lowercased : converted).compared(to: literal)
            else { return .unknown }
            return Truth(comparison.holds(order))
        case .like(let operand, let pattern, let isCaseless):
            guard case .value(let value, _) = try subject.read(operand),
                case .text(let text)? = value.converted(to: .string)
            else { return .unknown }
            return Truth(pattern.matches(isCaseless ? text.lowercased() : text))
        case .isCollection: return Truth(subject.member.info.isCollection)
        case .isDefined(let operand):
            if case .undefined = try subject.read(operand) { return .no }
            return .yes
        case .languageDefined(let operand):
            guard case .value(_, let language) = try subject.read(operand) else { return .unknown }
            return Truth(language != nil)
        case .languageMatches(let operand, let range):
            guard case .value(_, let language?) = try subject.read(operand) else { return .unknown }
            return Truth(Self.matches(language.lowercased(), range))
        }
    }

    /// The first member with the truth that settles it; else unknown if one of them is.
    private static func decide(
        _ members: [SearchExpression], _ subject: SearchSubject, by settling: Truth
    ) throws(WebDAVError) -> Truth {
        var isUnknown = false
        for member in members {
            let truth = try member.truth(of: subject)
            if truth == settling { return settling }
            if truth == .unknown { isUnknown = true }
        }
        return isUnknown ? .unknown : !settling
    }

    /// Basic filtering (RFC 4647 §3.3.1).
    private static func matches(_ language: String, _ range: String) -> Bool {
        range == "*" || language == range || language.hasPrefix(range + "-")
    }
}

extension SearchCondition.Comparison {
    /// - Parameter order: of the property's value and the literal's: -1, 0 or 1.
    fileprivate func holds(_ order: Int) -> Bool {
        switch self {
        case .eq: order == 0
        case .lt: order < 0
        case .lte: order <= 0
        case .gt: order > 0
        case .gte: order >= 0
        }
    }
}
