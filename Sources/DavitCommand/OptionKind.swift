internal import Davit

/// The kind of an option's value.
enum OptionKind: Sendable {
    /// Present or absent; `true` or `false` in files and variables.
    case flag
    case number(ClosedRange<Int>)
    /// A number of bytes with an optional suffix.
    case size
    /// A number of days, or of hours with a suffix.
    case age
    /// Permissions, in octal.
    case mode
    case choice([OptionChoice])
    /// Words separated by commas; a list in a file.
    case words
    /// Any text that is not empty.
    case text
    /// Any text; an empty one turns something off.
    case optionalText
    /// An account, which has its own form in a file.
    case account
    /// A folder at a path, which has its own form in a file.
    case mount

    /// The values of an enumeration.
    static func choices<Value: CaseIterable & RawRepresentable<String>>(_ type: Value.Type) -> OptionKind {
        .choice(Value.allCases.map { OptionChoice($0.rawValue) })
    }

    /// What a file must contain, for messages.
    var expected: String {
        switch self {
        case .flag: "true or false"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .size: "a number of bytes, optionally with a suffix K, M, G or T"
        case .age: "a number of days from 1 to 10000, or of hours with a suffix h"
        case .mode: "an octal number from 000 to 777"
        case .choice(let choices):
            choices.dropLast().map(\.value).joined(separator: ", ")
                + (choices.count > 1 ? " or " : "") + (choices.last?.value ?? "")
        case .words: "a list of words"
        case .text, .optionalText: "a text"
        case .account: "an account"
        case .mount: "a folder at a path"
        }
    }

    /// Whether a text has the form of this kind. Other requirements of an option are not verified.
    func accepts(_ text: String) -> Bool {
        switch self {
        case .flag: text == "true" || text == "false"
        case .number(let range): (try? Arguments.number(text, option: "", in: range) as Int) != nil
        case .size: (try? Arguments.bytes(text, option: "")) != nil
        case .age: (try? Arguments.age(text, option: "")) != nil
        case .mode: Arguments.mode(text) != nil
        case .choice(let choices): choices.contains { $0.value == text }
        case .words, .text, .account, .mount: !text.isEmpty
        case .optionalText: true
        }
    }

    /// Whether only a scalar without quotes has this kind: `"8080"` in quotes is a text.
    var isPlain: Bool {
        switch self {
        case .flag, .number: true
        default: false
        }
    }
}

/// One of the values of an option.
struct OptionChoice: Sendable {
    let value: String
    /// The help, for options whose values have lines of their own.
    let help: String?

    init(_ value: String, _ help: String? = nil) {
        self.value = value
        self.help = help
    }
}
