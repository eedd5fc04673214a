internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Evaluates the condition of a query for one resource after another.
///
/// The evaluation of a resource can be paused and resumed: intermediate results are cached, and the
/// condition, which has at most ``BodyLimits/operators`` operators, is evaluated again from the start.
/// Belongs to one ``SearchRun``.
final class SearchEvaluator {
    /// Maximum Unicode scalars of a sort key. A character may have any number of scalars.
    private static let keyLimit = 256
    /// Steps charged for each resource and for each test, regardless of the values compared.
    private static let resourceSteps = 64
    private static let testSteps = 16
    /// Maximum steps between two charges for a long text.
    private static let stride = 8192

    private let program: SearchProgram
    private let meter: SearchMeter
    private let subject: SearchSubject
    /// Whether the evaluation of a resource is paused.
    @safe @exclusivity(unchecked) private(set) var isPaused = false
    /// Indexed by operand number.
    @safe @exclusivity(unchecked) private var readings: [SearchSubject.Reading?]
    /// Two elements for each operand number: the original text, then the lowercase text.
    private let texts: [SearchText]
    /// The positions of those that were begun for this resource.
    @safe @exclusivity(unchecked) private var begunTexts: [Int] = []
    /// Indexed by test number.
    @safe @exclusivity(unchecked) private var truths: [Truth?]
    /// Progress of the interrupted `like`.
    @safe @exclusivity(unchecked) private var progress = SearchMatcher.Progress()

    init(_ program: SearchProgram, _ resources: any ResourceStore, meter: SearchMeter) {
        self.program = program
        subject = SearchSubject(resources)
        self.meter = meter
        readings = [SearchSubject.Reading?](repeating: nil, count: program.operands.count)
        texts = (0..<(2 * program.operands.count)).map { SearchText(isFolded: $0 % 2 == 1) }
        truths = [Truth?](repeating: nil, count: program.tests.count)
    }

    func begin(
        _ member: Member, at path: ResourcePath, _ properties: [StoredProperty]
    ) throws(SearchStop) {
        subject.begin(member, at: path, properties)
        isPaused = true
        try meter.charge(Self.resourceSteps)
    }

    /// Discards the state of the current resource.
    func finish() {
        subject.end()
        isPaused = false
        for number in readings.indices { readings[number] = nil }
        for number in begunTexts { texts[number].end() }
        begunTexts.removeAll(keepingCapacity: true)
        for number in truths.indices { truths[number] = nil }
        progress = SearchMatcher.Progress()
    }

    /// Whether the resource matches the condition.
    func isTrue() throws(SearchStop) -> Bool {
        guard let expression = program.expression else { return true }
        return try truth(of: expression) == .yes
    }

    /// Returns the sort keys of the resource; nil for properties that are undefined or contain elements.
    func keys(_ order: [SearchOrder]) throws(SearchStop) -> [SearchValue?] {
        var keys: [SearchValue?] = []
        for (order, operand) in zip(order, program.order) {
            guard case .value(let value, _) = try reading(of: operand) else {
                keys.append(nil)
                continue
            }
            let key = value.prefix(Self.keyLimit)
            keys.append(order.isCaseless ? key.lowercased : key)
        }
        meter.add(keys.count * Self.keyLimit)
        return keys
    }

    // MARK: Conditions

    private func truth(of expression: SearchExpression) throws(SearchStop) -> Truth {
        switch expression {
        case .and(let members): return try decide(members, by: .no)
        case .or(let members): return try decide(members, by: .yes)
        case .not(let member): return !(try truth(of: member))
        case .test(let number):
            if let known = truths[number] { return known }
            let truth = try run(number)
            truths[number] = truth
            try meter.charge(Self.testSteps)
            return truth
        }
    }

    /// Returns `deciding` if any member has that value; otherwise `unknown` if any member is unknown;
    /// otherwise the opposite of `deciding`.
    private func decide(
        _ members: [SearchExpression], by deciding: Truth
    ) throws(SearchStop) -> Truth {
        var isUnknown = false
        for member in members {
            let truth = try truth(of: member)
            if truth == deciding { return deciding }
            if truth == .unknown { isUnknown = true }
        }
        return isUnknown ? .unknown : !deciding
    }

    private func run(_ number: Int) throws(SearchStop) -> Truth {
        switch program.tests[number] {
        case .comparison(let comparison, let operand, let literal, let type, let isCaseless):
            guard let literal = program.literals[literal],
                case .value(let value, _) = try reading(of: operand),
                let converted = value.converted(to: type),
                let order = compare(converted, literal, isCaseless: isCaseless)
            else { return .unknown }
            return Truth(comparison.holds(order))
        case .like(let operand, let pattern, let isCaseless):
            return try isLike(operand, pattern, isCaseless: isCaseless)
        case .isCollection: return Truth(subject.member.info.isCollection)
        case .isDefined(let operand):
            if case .undefined = try reading(of: operand) { return .no }
            return .yes
        case .languageDefined(let operand):
            guard case .value(_, let language) = try reading(of: operand) else { return .unknown }
            return Truth(language != nil)
        case .languageMatches(let operand, let range):
            guard case .value(_, let language?) = try reading(of: operand) else { return .unknown }
            meter.add(language.utf8.count)
            return Truth(Self.matches(language.lowercased(), program.languageRanges[range]))
        }
    }

    private func isLike(
        _ operand: Int, _ pattern: Int, isCaseless: Bool
    ) throws(SearchStop) -> Truth {
        let position = 2 * operand + (isCaseless ? 1 : 0)
        let decoded = texts[position]
        if !decoded.hasBegun {
            begunTexts.append(position)
            // Most names are decoded without making a text of them.
            if operand == program.nameOperand, let name = subject.ownName,
                let cost = decoded.begin(name, with: program.alphabet)
            {
                try meter.charge(cost)
            }
        }
        if !decoded.isComplete {
            guard case .value(let value, _) = try reading(of: operand),
                case .text(let text)? = value.converted(to: .string)
            else { return .unknown }
            try decode(text, as: decoded)
        }
        return Truth(try matches(decoded, pattern))
    }

    /// Basic filtering (RFC 4647 §3.3.1).
    private static func matches(_ language: String, _ range: String) -> Bool {
        range == "*" || language == range || language.hasPrefix(range + "-")
    }

    private func compare(_ value: SearchValue, _ literal: SearchValue, isCaseless: Bool) -> Int? {
        guard case .text(let text) = literal else { return value.compared(to: literal) }
        // A comparison never needs more scalars than this: a character decomposes into at most four, so any
        // scalars that follow do not affect the result.
        let compared = value.prefix(4 * text.utf8.count + 1)
        if case .text(let text) = compared { meter.add(4 * text.utf8.count) }
        return (isCaseless ? compared.lowercased : compared).compared(to: literal)
    }

    // MARK: Values

    private func reading(of operand: Int) throws(SearchStop) -> SearchSubject.Reading {
        if let known = readings[operand] { return known }
        let reading: SearchSubject.Reading
        let cost: Int
        do throws(WebDAVError) {
            switch program.operands[operand] {
            case .live(let property):
                (reading, cost) = (try subject.read(property), subject.steps(of: property))
            case .dead(let name): (reading, cost) = (subject.read(name), subject.steps(of: name))
            }
        } catch {
            throw .failed(error)
        }
        readings[operand] = reading
        if cost > 0 { try meter.charge(cost) }
        return reading
    }

    private func matches(_ text: SearchText, _ pattern: Int) throws(SearchStop) -> Bool {
        while true {
            var steps = Self.stride
            let result = program.matchers[pattern].advance(
                &progress, over: text.codes, steps: &steps)
            if let result {
                progress = SearchMatcher.Progress()
                meter.add(Self.stride - steps)
                return result
            }
            try meter.charge(Self.stride - steps)
        }
    }

    private func decode(_ text: String, as decoded: SearchText) throws(SearchStop) {
        if !decoded.hasBegun { try meter.charge(decoded.begin(text, with: program.alphabet)) }
        while !decoded.isComplete {
            var steps = Self.stride
            decoded.decode(with: program.alphabet, steps: &steps)
            try meter.charge(Self.stride - steps)
        }
    }
}
