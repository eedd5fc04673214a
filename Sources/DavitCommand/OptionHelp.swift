/// The help of all options, from their table.
enum OptionHelp {
    /// The column at which descriptions begin, from 0, and the width of a terminal.
    private static let column = 25
    static let width = 80

    /// The sections of `davit serve --help`, each followed by an empty line.
    static let sections = OptionSection.allCases.map { section in
        let options = ServeOption.allCases.filter { $0.entry.section == section }
        let last = section == OptionSection.allCases.last ? lines("--help", "show this help") : []
        let title = wrapped(section.title + ":", width: width).joined(separator: "\n")
        return title + "\n" + (options.flatMap { lines(of: $0) } + last).map { $0 + "\n" }.joined()
    }.joined(separator: "\n")

    private static func lines(of option: ServeOption) -> [String] {
        let entry = option.entry
        if case .choice(let choices) = entry.kind, choices.contains(where: { $0.help != nil }) {
            return choices.flatMap { lines("\(option.rawValue) \($0.value)", $0.help ?? "") }
        }
        let name = entry.argument.isEmpty ? option.rawValue : "\(option.rawValue) \(entry.argument)"
        return lines(name, description(of: entry))
    }

    /// The help with the default and the note.
    static func description(of entry: OptionEntry) -> String {
        entry.help + (entry.standard.text.map { " (default: \($0))" } ?? "")
            + (entry.note.map { ". \($0)" } ?? "")
    }

    private static func lines(_ name: String, _ description: String) -> [String] {
        let indent = String(repeating: " ", count: column)
        var lines = wrapped(description, width: width - column).map { indent + $0 }
        let start = "  " + name
        if start.utf8.count <= column - 2, !lines.isEmpty {
            lines[0] = start + lines[0].dropFirst(start.utf8.count)
        } else {
            lines.insert(start, at: 0)
        }
        return lines
    }

    /// Breaks a text at spaces, into lines of at most `width` characters.
    static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
