/// The arguments of `davit trash`.
extension Arguments {
    private static let stateDir = ServeOption.stateDir.rawValue

    mutating func trash() throws(UsageError) -> Invocation {
        var options = TrashOptions(action: .list, folder: "")
        var days: Int?
        let words = try others { (arguments, word) throws(UsageError) in
            let (name, value) = Self.parts(of: word)
            switch name {
            case Self.stateDir: options.stateFolder = try arguments.value(of: name, behindSign: value)
            case TrashOptions.olderThan:
                days = try Self.number(
                    arguments.value(of: name, behindSign: value), option: name, in: 0...36_500)
            default:
                let known = [Self.stateDir, TrashOptions.olderThan, "--help"]
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: known))
            }
        }
        guard var rest = words?[...] else { return .help(.trash) }
        guard let action = rest.popFirst() else { return .help(.trash) }
        guard TrashOptions.actions.contains(action) else {
            throw .unknownCommand(
                "trash \(action)",
                nearest: Self.nearest(to: action, in: TrashOptions.actions).map { "trash \($0)" })
        }
        guard let folder = rest.popFirst(), !folder.isEmpty else { throw .missingFolder }
        options.folder = folder
        if action != "empty", days != nil { throw .useless(option: TrashOptions.olderThan, without: "empty") }
        switch action {
        case "restore":
            if rest.isEmpty { throw .missingTrash }
            options.action = .restore(Array(rest))
            return .trash(options)
        case "empty": options.action = .empty(olderThanDays: days ?? 0)
        default: options.action = .list
        }
        if let word = rest.first { throw .moreThanOneFolder(word) }
        return .trash(options)
    }
}
