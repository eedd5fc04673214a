/// The forms of a command line with which the help of a command begins, such as `davit trash list FOLDER`.
struct UsageForms {
    /// The forms with the action of a command line; all forms if it has no action that the command knows.
    let forms: [Substring]

    /// - Parameter words: the command line, from the command on.
    init(of command: Subcommand, fitting words: [String]) {
        let all = Self.forms(in: command.help.text)
        let withWord = words.dropFirst().lazy.map { word in
            all.filter { Self.actions(of: $0).contains(word[...]) }
        }
        forms = withWord.first { !$0.isEmpty } ?? all
    }

    /// The forms on one line each, as in the help.
    var text: String { "usage: " + forms.joined(separator: "\n       ") }

    /// Whether a form has arguments other than actions and options, such as names and paths.
    var haveArguments: Bool {
        forms.contains { form in
            let words = form.split(separator: " ").map { $0.drop { $0 == "[" } }
            return words.indices.dropFirst(2).contains { index in
                let word = words[index]
                return word.first?.isUppercase == true && !word.hasPrefix("OPTION")
                    && !words[index - 1].hasPrefix("--")
            }
        }
    }

    /// Returns the forms in the first paragraph of a help text.
    private static func forms(in text: String) -> [Substring] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix { !$0.isEmpty }
        return lines.reduce(into: []) { forms, line in
            let form = line.hasPrefix("usage: ") ? line.dropFirst(7) : line.drop { $0 == " " }
            if form.hasPrefix("davit ") {
                forms.append(form)
            } else if let last = forms.popLast() {
                // A long form continues on the next line.
                forms.append("\(last) \(form)")
            }
        }
    }

    /// Returns the actions of a form, such as `list` and `cancel` for `davit uploads list|cancel FOLDER`.
    private static func actions(of form: Substring) -> [Substring] {
        form.split(separator: " ").dropFirst(2).first?.split(separator: "|") ?? []
    }
}
