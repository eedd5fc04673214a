internal import DavitTesting

/// Generates inputs from those of a corpus. The sequence depends only on the values given to the initializer.
struct InputMutator {
    private let inputs: [[UInt8]]
    private let words: MutationWords
    private let maximumLength: Int
    private var generator: SeededGenerator

    init(inputs: [[UInt8]], words: MutationWords, maximumLength: Int, seed: String) {
        self.inputs = inputs
        self.words = words
        self.maximumLength = maximumLength
        // FNV-1a: the hashes of the standard library differ between processes.
        let hash = seed.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        generator = SeededGenerator(seed: hash)
    }

    /// Returns an input of the corpus after one mutation or, with decreasing probability, up to eight.
    mutating func next() -> [UInt8] {
        var input = anyInput()
        var count = 1
        while count < 8, Bool.random(using: &generator) { count += 1 }
        for _ in 0..<count { mutate(&input) }
        return input.count > maximumLength ? Array(input[..<maximumLength]) : input
    }

    private mutating func mutate(_ input: inout [UInt8]) {
        let position = Int.random(in: 0...input.count, using: &generator)
        switch Int.random(in: 0..<14, using: &generator) {
        case 0: change(&input, at: position) { $0 ^ 1 << UInt8.random(in: 0..<8, using: &$1) }
        case 1: change(&input, at: position) { UInt8.random(in: 0 ... .max, using: &$1) }
        case 2: change(&input, at: position) { MutationWords.bytes.randomElement(using: &$1) ?? $0 }
        case 3: change(&input, at: position) { Bool.random(using: &$1) ? $0 &+ 1 : $0 &- 1 }
        // In most targets the first byte selects the grammar.
        case 4: change(&input, at: 0) { UInt8.random(in: 0 ... .max, using: &$1) }
        case 5: input.insert(MutationWords.bytes.randomElement(using: &generator) ?? 0, at: position)
        case 6: input.removeSubrange(range(in: input, from: position))
        case 7: input.insert(contentsOf: input[range(in: input, from: position)], at: position)
        case 8:
            let repeated = input[range(in: input, from: position, upTo: 4)]
            for _ in 0..<Int.random(in: 2...64, using: &generator) {
                input.insert(contentsOf: repeated, at: position)
            }
        case 9: input.insert(contentsOf: anyWord(), at: position)
        case 10:
            let word = anyWord()
            input.replaceSubrange(position..<min(input.count, position + word.count), with: word)
        case 11: splice(&input, at: position)
        case 12:
            let other = anyInput()
            let start = Int.random(in: 0...other.count, using: &generator)
            input.insert(contentsOf: other[range(in: other, from: start, upTo: 64)], at: position)
        default: changeNumber(of: &input, from: position)
        }
    }

    private mutating func change(
        _ input: inout [UInt8], at position: Int, _ body: (UInt8, inout SeededGenerator) -> UInt8
    ) {
        if position < input.count { input[position] = body(input[position], &generator) }
    }

    /// Replaces the rest of the input by the rest of another one.
    private mutating func splice(_ input: inout [UInt8], at position: Int) {
        let other = anyInput()
        let start = Int.random(in: 0...other.count, using: &generator)
        input.replaceSubrange(position..., with: other[start...])
    }

    /// Replaces the first decimal number after a position by the next one, the previous one, or one near a limit.
    private mutating func changeNumber(of input: inout [UInt8], from position: Int) {
        let isDigit = { (byte: UInt8) in 48...57 ~= byte }
        let number = MutationWords.numbers.randomElement(using: &generator) ?? []
        guard let start = input[position...].firstIndex(where: isDigit) else {
            input.insert(contentsOf: number, at: position)
            return
        }
        let end = input[start...].firstIndex { !isDigit($0) } ?? input.endIndex
        let value = UInt64(String(decoding: input[start..<end], as: UTF8.self))
        guard let value, Bool.random(using: &generator) else {
            input.replaceSubrange(start..<end, with: number)
            return
        }
        let near = Bool.random(using: &generator) ? value &+ 1 : value &- 1
        input.replaceSubrange(start..<end, with: "\(near)".utf8)
    }

    /// Returns a range of a random length, mostly a short one.
    private mutating func range(in input: [UInt8], from start: Int, upTo limit: Int = .max) -> Range<Int> {
        let longest = min(input.count - start, limit)
        let length = Int.random(in: 0...longest, using: &generator)
        return start..<start + (Bool.random(using: &generator) ? min(length, 8) : length)
    }

    private mutating func anyInput() -> [UInt8] { inputs.randomElement(using: &generator) ?? [] }

    private mutating func anyWord() -> [UInt8] {
        words.words.randomElement(using: &generator) ?? MutationWords.numbers.randomElement(using: &generator)
            ?? []
    }
}
