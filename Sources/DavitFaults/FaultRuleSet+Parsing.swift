internal import DavitHTTP

/// A line of a fault plan that cannot be used.
public struct FaultRuleError: Error, Hashable, Sendable {
    /// The number of the line, from 1 on.
    public var line: Int
    /// The word that cannot be used, or the whole line.
    public var text: String
    public var problem: String

    public init(line: Int, text: String, problem: String) {
        self.line = line
        self.text = text
        self.problem = problem
    }
}

/// The text format of a plan. Each line is a rule: a method or `*`, a path, and faults and conditions as
/// `name=value`. Empty lines and lines that begin with `#` are ignored, `seed=NUMBER` sets the seed, and
/// `tls=FAULT` the fault of the certificate.
///
///     seed=42
///     *         /**          profile=3g
///     PROPFIND  /**          delay=2s
///     PUT       /**          status=423 nth=2
///     GET       /big/**      close-after=1MB probability=10%
extension FaultRuleSet {
    /// The maximum number of rules.
    public static let ruleLimit = 1000

    /// - Throws: ``FaultRuleError`` for the first invalid line.
    public convenience init(parsing text: String) throws(FaultRuleError) {
        var rules: [FaultRule] = []
        var seed: UInt64?
        var certificateFault: CertificateFault?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }.map(String.init)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            let parser = FaultRuleParser(line: index + 1)
            if words.count == 1, first.hasPrefix("seed=") {
                seed = try parser.number(String(first.dropFirst(5)), in: first)
                continue
            }
            if words.count == 1, first.hasPrefix("tls=") {
                guard let fault = CertificateFault(rawValue: String(first.dropFirst(4))) else {
                    let all = CertificateFault.allCases.map(\.rawValue).joined(separator: ", ")
                    throw parser.error(first, "the faults of a certificate are \(all)")
                }
                certificateFault = fault
                continue
            }
            rules += try parser.rules(words)
            if rules.count > Self.ruleLimit {
                throw parser.error(String(line), "there are more than \(Self.ruleLimit) rules")
            }
        }
        self.init(rules, seed: seed, certificateFault: certificateFault)
    }
}

/// Parses one line.
private struct FaultRuleParser {
    let line: Int

    func error(_ text: String, _ problem: String) -> FaultRuleError {
        FaultRuleError(line: line, text: text, problem: problem)
    }

    /// Returns the rule of a line; two rules for a profile that loses responses.
    func rules(_ words: [String]) throws(FaultRuleError) -> [FaultRule] {
        guard words.count >= 3 else {
            throw error(words.joined(separator: " "), "a rule is: METHOD PATH NAME=VALUE...")
        }
        guard let path = PathGlob(words[1]) else { throw error(words[1], "a path begins with a slash") }
        var rule = FaultRule(try methods(words[0]), path)
        var options = Options()
        for word in words[2...] { try add(word, to: &rule, &options) }
        rule.refusal = try refusal(options, words)
        var rules = [rule]
        if let profile = options.profile, let losses = FaultRule.losses(of: profile, for: rule.methods, path)
        {
            rules.append(losses)
        }
        return rules
    }

    private func methods(_ word: String) throws(FaultRuleError) -> [HTTPMethod] {
        if word == "*" { return [] }
        var methods: [HTTPMethod] = []
        for name in word.split(separator: ",", omittingEmptySubsequences: false) {
            guard !name.isEmpty, name.utf8.allSatisfy({ (65...90).contains($0) || $0 == UInt8(ascii: "-") })
            else { throw error(word, "not a method; write methods in capitals, separated by commas, or *") }
            methods.append(
                HTTPMethod.named.first { "\($0.name)" == name }?.method ?? .other(String(name)))
        }
        return methods
    }

    /// Words whose meaning depends on other words.
    private struct Options {
        var profile: NetworkProfile?
        var status: HTTPStatus?
        var retryAfter: Int?
        var receivedPart: Double?
    }

    private func refusal(
        _ options: Options, _ words: [String]
    ) throws(FaultRuleError) -> FaultRule.Refusal? {
        guard let status = options.status else {
            if options.retryAfter != nil || options.receivedPart != nil {
                throw error(words.joined(separator: " "), "retry-after and at require status")
            }
            return nil
        }
        return FaultRule.Refusal(
            status, retryAfterSeconds: options.retryAfter, receivedPart: options.receivedPart)
    }

    private func add(
        _ word: String, to rule: inout FaultRule, _ options: inout Options
    ) throws(FaultRuleError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        let value = parts.count > 1 ? parts[1] : nil
        func text() throws(FaultRuleError) -> String {
            guard let value, !value.isEmpty else { throw error(word, "a value is missing: \(parts[0])=...") }
            return value
        }
        func end(_ manner: DeliveryShape.End.Manner) throws(FaultRuleError) -> DeliveryShape.End {
            DeliveryShape.End(afterBytes: Int64(try bytes(try text(), in: word)), manner)
        }
        func flag() throws(FaultRuleError) {
            if value != nil { throw error(word, "\(parts[0]) does not take a value") }
        }
        switch parts[0] {
        case "nth": rule.occurrence = .nth(try count(try text(), in: word))
        case "every": rule.occurrence = .every(try count(try text(), in: word))
        case "first": rule.occurrence = .first(try count(try text(), in: word))
        case "after": rule.occurrence = .after(try number(try text(), in: word))
        case "probability": rule.probability = try part(try text(), in: word)
        case "delay": rule.delay = try delay(try text(), in: word)
        case "first-byte": rule.firstByteDelay = try delay(try text(), in: word)
        case "down": rule.downBytesPerSecond = try rate(try text(), in: word)
        case "up": rule.upBytesPerSecond = try rate(try text(), in: word)
        case "profile":
            let profile = try profile(try text(), in: word)
            options.profile = profile
            rule.apply(profile)
        case "status": options.status = try status(try text(), in: word)
        case "retry-after": options.retryAfter = Int(clamping: try number(try text(), in: word))
        case "at": options.receivedPart = try part(try text(), in: word)
        case "close":
            try flag()
            rule.endWithoutResponse = .close
        case "reset":
            try flag()
            rule.endWithoutResponse = .reset
        case "stall":
            try flag()
            rule.endWithoutResponse = .stall
        case "lose-locks":
            try flag()
            rule.losesLocks = true
        case "close-after": rule.end = try end(.close)
        case "reset-after": rule.end = try end(.reset)
        case "stall-after": rule.end = try end(.stall)
        case "malformed-head":
            try flag()
            rule.hasMalformedHead = true
        case "length-error":
            guard let value = Int64(try text()), abs(value) <= 1 << 40 else {
                throw error(word, "not a number of bytes")
            }
            rule.lengthError = value
        default: throw error(word, "unknown word; the words are \(Self.words.joined(separator: ", "))")
        }
    }

    private static let words = [
        "nth", "every", "first", "after", "probability", "delay", "first-byte", "down", "up", "profile",
        "status", "retry-after", "at", "lose-locks", "close", "reset", "stall", "close-after", "reset-after",
        "stall-after",
        "malformed-head", "length-error",
    ]

    // MARK: Values

    func number(_ text: String, in word: String) throws(FaultRuleError) -> UInt64 {
        guard let number = UInt64(text) else { throw error(word, "not a number") }
        return number
    }

    private func count(_ text: String, in word: String) throws(FaultRuleError) -> UInt64 {
        let number = try number(text, in: word)
        if number == 0 { throw error(word, "requests are counted from 1") }
        return number
    }

    private func status(_ text: String, in word: String) throws(FaultRuleError) -> HTTPStatus {
        guard let code = UInt16(text), (200...599).contains(code) else {
            throw error(word, "a status is a number from 200 to 599")
        }
        return HTTPStatus(code)
    }

    /// Parses a part of a whole: `10%` or `0.1`.
    private func part(_ text: String, in word: String) throws(FaultRuleError) -> Double {
        let isPercent = text.hasSuffix("%")
        let scale = isPercent ? 100.0 : 1
        guard let number = Self.decimal(text.dropLast(isPercent ? 1 : 0)), number <= scale else {
            throw error(word, "write a part as 10% or 0.1")
        }
        return number / scale
    }

    private func profile(_ text: String, in word: String) throws(FaultRuleError) -> NetworkProfile {
        if let profile = NetworkProfile.named.first(where: { $0.name == text })?.profile { return profile }
        let names = NetworkProfile.named.map(\.name).joined(separator: ", ")
        throw error(word, "the profiles are \(names)")
    }

    /// Parses `300ms` or `2s`, a range such as `100ms-2s`, or mean and deviation, `300ms~50ms`.
    private func delay(_ text: String, in word: String) throws(FaultRuleError) -> FaultDelay {
        let range = text.split(separator: "-", omittingEmptySubsequences: false)
        let normal = text.split(separator: "~", omittingEmptySubsequences: false)
        if range.count == 2 {
            let (low, high) = (try milliseconds(range[0], in: word), try milliseconds(range[1], in: word))
            guard low <= high else { throw error(word, "the range ends before it begins") }
            return .uniform(low...high)
        }
        if normal.count == 2 {
            return .normal(
                mean: try milliseconds(normal[0], in: word), deviation: try milliseconds(normal[1], in: word))
        }
        return .fixed(try milliseconds(text[...], in: word))
    }

    private func milliseconds(_ text: Substring, in word: String) throws(FaultRuleError) -> Double {
        for (unit, scale) in [("ms", 1.0), ("s", 1000)] where text.hasSuffix(unit) {
            guard let number = Self.decimal(text.dropLast(unit.utf8.count)),
                number * scale <= FaultDelay.limitMilliseconds
            else { break }
            return number * scale
        }
        throw error(word, "write a delay of at most a day as 300ms or 2s, a range as 100ms-2s, or 300ms~50ms")
    }

    /// Parses a rate in bytes per second: `500`, `50kB`, `1.5MB`, also with `/s`.
    private func rate(_ text: String, in word: String) throws(FaultRuleError) -> Int {
        let rate = try bytes(text.hasSuffix("/s") ? String(text.dropLast(2)) : text, in: word)
        if rate == 0 { throw error(word, "the rate is 0; to send nothing, use stall") }
        return rate
    }

    private func bytes(_ text: String, in word: String) throws(FaultRuleError) -> Int {
        for (unit, scale) in [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("B", 1), ("", 1)]
        where text.hasSuffix(unit) {
            guard let number = Self.decimal(text.dropLast(unit.utf8.count)), number * scale <= 1e12 else {
                break
            }
            return Int(number * scale)
        }
        throw error(word, "write bytes as 500, 50kB or 1.5MB")
    }

    /// Parses digits with at most one decimal point; nil otherwise.
    private static func decimal(_ text: some StringProtocol) -> Double? {
        guard let first = text.utf8.first, (48...57).contains(first), text.utf8.count <= 15,
            text.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(String(text))
    }
}
