internal import FuzzTargets

/// The arguments of the command line.
struct ReplayArguments {
    /// The name of a target or of a planted fault.
    let targetName: String
    /// Parses an input, and ends the process if an invariant is broken.
    let run: ([UInt8]) -> Void
    /// The number of mutated inputs.
    private(set) var runs = 0
    private(set) var seed: String
    private(set) var dictionary: String?
    /// Where the input that is being parsed is stored.
    private(set) var current: String?
    /// The maximum length of mutated inputs in bytes.
    private(set) var maximumLength = 600
    /// The maximum duration of one input in seconds.
    private(set) var timeout: UInt32 = 30
    /// Files, and folders of files.
    private(set) var paths: [String] = []

    static let usage = """
        usage: FuzzReplay \(FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")) [OPTION...] PATH...
          --runs N           number of mutated inputs (default: 0)
          --seed TEXT        selects the mutations (default: random, and printed)
          --dictionary FILE  words to insert, in the format of libFuzzer
          --max-length N     maximum length of mutated inputs in bytes (default: 600)
          --timeout SECONDS  maximum duration of one input (default: 30)
          --current FILE     file that contains the input that is being parsed, after 8 digits with its length and a line feed
        """

    init(_ arguments: ArraySlice<String>) throws(ReplayError) {
        guard let name = arguments.first else { throw Self.error("missing target") }
        if let target = FuzzTarget(rawValue: name) {
            run = target.run
        } else if let fault = PlantedFault(rawValue: name) {
            run = fault.run
        } else {
            throw Self.error("unknown target '\(name)'")
        }
        targetName = name
        seed = String(UInt64.random(in: 0 ... .max), radix: 16)
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                paths.append(argument)
                continue
            }
            guard let value = rest.popFirst() else { throw Self.error("missing value of \(argument)") }
            switch argument {
            case "--runs": runs = try Self.number(value, in: 0...Int.max)
            case "--seed": seed = value
            case "--dictionary": dictionary = value
            case "--current": current = value
            case "--max-length": maximumLength = try Self.number(value, in: 1...9_999_999)
            case "--timeout": timeout = UInt32(try Self.number(value, in: 1...3600))
            default: throw Self.error("unknown option \(argument)")
            }
        }
        if paths.isEmpty { throw Self.error("missing PATH") }
    }

    private static func number(_ text: String, in range: ClosedRange<Int>) throws(ReplayError) -> Int {
        guard let number = Int(text), range.contains(number) else { throw error("invalid number '\(text)'") }
        return number
    }

    private static func error(_ message: String) -> ReplayError {
        ReplayError(status: 64, message: "\(message)\n\(usage)")
    }
}
