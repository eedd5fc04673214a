internal import FuzzTargets

/// Targets with a fault, which `scripts/fuzz.sh --self-test` must find.
enum PlantedFault: String {
    case none = "planted-none"
    case word = "planted-word"
    case splice = "planted-splice"
    case number = "planted-number"
    case overflow = "planted-overflow"
    case endless = "planted-endless"
    case memory = "planted-memory"

    func run(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        switch self {
        case .none: break
        // The word is only in the dictionary.
        case .word: invariant(!text.contains("<planted>"), "planted word")
        // One input begins with "first", and another one ends with "last".
        case .splice: invariant(!(text.hasPrefix("first") && text.hasSuffix("last")), "planted splice")
        case .number: invariant(!text.contains("9223372036854775808"), "planted number")
        // A trap without a message: more than 31 spaces.
        case .overflow:
            let count = input.reduce(224 as UInt8) { $1 == 32 ? $0 + 1 : $0 }
            invariant(count >= 224, "optimization must not remove the addition")
        case .endless: while text.contains("<planted>") {}
        case .memory:
            var memory: [[UInt8]] = []
            while text.contains("<planted>") { memory.append([UInt8](repeating: 1, count: 1 << 20)) }
        }
    }
}
