/// The text of `davit config defaults`: a configuration file in which every setting is a comment.
enum ConfigurationDefaults {
    static let text = render()

    private static func render() -> String {
        var text = """
            # Configuration of 'davit serve --config FILE'. Every setting has its default, or an
            # example if it has none. Remove the # in front of a setting to change it.

            """
        text += heading("shares and accounts")
        for key in FileKey.allCases {
            text += comment(key.help) + key.example.map { "#\($0)\n" }.joined()
        }
        for section in OptionSection.allCases {
            let options = ServeOption.allCases.filter {
                $0.entry.section == section && ConfigurationReader.option($0.key) != nil
                    && $0.entry.scope != .commandLine
            }
            text += heading(section.title)
            for option in options {
                text += comment(description(of: option)) + "#\(option.key): \(value(of: option))\n"
            }
        }
        return text
    }

    private static func heading(_ title: String) -> String { "\n## \(title)\n" }

    private static func comment(_ help: String) -> String {
        "\n" + OptionHelp.wrapped(help, width: OptionHelp.width - 2).map { "# \($0)\n" }.joined()
    }

    /// The help, with what the value itself does not show.
    private static func description(of option: ServeOption) -> String {
        let entry = option.entry
        var text = entry.help
        if case .choice(let choices) = entry.kind, choices.contains(where: { $0.help != nil }) {
            text += ": " + choices.map { "\($0.value): \($0.help ?? "")" }.joined(separator: "; ")
        }
        if case .described(let words) = entry.standard { text += " (default: \(words))" }
        if entry.standard == .none, option.takesValue { text += " (default: none)" }
        if entry.scope == .share { text += ". Can differ between shares" }
        if entry.reload == .takesEffect { text += ". Takes effect on a reload" }
        return text
    }

    private static func value(of option: ServeOption) -> String {
        switch option.entry.standard {
        case .value(let text), .implied(let text): ConfigurationText.scalar(text)
        case .described, .none:
            option.takesValue ? ConfigurationText.scalar(option.entry.argument) : "false"
        }
    }
}

/// Texts as YAML.
enum ConfigurationText {
    /// Returns a scalar that is read as this text, in quotes if it would otherwise have another meaning.
    static func scalar(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || isDigit($0) || "-._/,".unicodeScalars.contains($0))
            }
            && text.first != "-" && text.first != ","
        if isPlain { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case _
            where scalar.value < 32 || scalar.value == 127 || scalar.properties.generalCategory == .control:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\x" + (digits.utf8.count == 1 ? "0" : "") + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
}
