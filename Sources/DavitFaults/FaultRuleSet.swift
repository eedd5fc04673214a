internal import DavitHTTP
internal import Synchronization

/// The faults of a server: rules, and a seed for the random ones.
///
/// For each request, the rules are tried in order, and all that match apply. If several rules set the same
/// fault, the first of them decides. Random decisions depend only on the seed, the rule and the number of the
/// request among those that match the rule.
public final class FaultRuleSet: Sendable {
    public let rules: [FaultRule]
    public let seed: UInt64
    /// What is wrong with the certificate of the server, for all connections; nil for nothing. The server applies
    /// it, not the middleware.
    public let certificateFault: CertificateFault?
    /// For each rule, the number of requests that matched it.
    private let counts: Mutex<[UInt64]>

    /// - Parameter seed: nil for a random one.
    public init(_ rules: [FaultRule], seed: UInt64? = nil, certificateFault: CertificateFault? = nil) {
        self.rules = rules
        self.certificateFault = certificateFault
        // A short number is easier to repeat.
        self.seed = seed ?? UInt64.random(in: 0..<1_000_000_000)
        counts = Mutex([UInt64](repeating: 0, count: rules.count))
    }

    /// The faults of one request.
    struct Faults {
        var delay: Int64 = 0
        var firstByteDelay: Int64 = 0
        var upBytesPerSecond: Int?
        var refusal: FaultRule.Refusal?
        var endWithoutResponse: DeliveryShape.End.Manner?
        var losesLocks = false
        var shape = DeliveryShape()
    }

    /// Counts a request and returns its faults; nil if there are none.
    func faults(of method: HTTPMethod, _ path: ResourcePath) -> Faults? {
        var found: Faults?
        for (index, rule) in rules.enumerated() where rule.matches(method, path) {
            let number = counts.withLock { counts in
                counts[index] += 1
                return counts[index]
            }
            guard rule.selects(number) else { continue }
            var random = FaultRandom(seed: seed, rule: index, occurrence: number)
            guard random.fraction() < rule.probability else { continue }
            var faults = found ?? Faults()
            faults.add(rule, &random)
            found = faults
        }
        return found
    }
}

extension FaultRuleSet.Faults {
    /// Adds the faults of a rule that are not set yet.
    mutating func add(_ rule: FaultRule, _ random: inout FaultRandom) {
        // Draw both, so that the numbers do not depend on other rules.
        let (delay, firstByte) = (rule.delay?.draw(&random), rule.firstByteDelay?.draw(&random))
        if self.delay == 0 { self.delay = delay ?? 0 }
        if firstByteDelay == 0 { firstByteDelay = firstByte ?? 0 }
        upBytesPerSecond = upBytesPerSecond ?? rule.upBytesPerSecond
        refusal = refusal ?? rule.refusal
        endWithoutResponse = endWithoutResponse ?? rule.endWithoutResponse
        shape.bytesPerSecond = shape.bytesPerSecond ?? rule.downBytesPerSecond
        shape.end = shape.end ?? rule.end
        if rule.losesLocks { losesLocks = true }
        if rule.hasMalformedHead { shape.hasMalformedHead = true }
        if shape.lengthError == 0 { shape.lengthError = rule.lengthError }
    }
}
