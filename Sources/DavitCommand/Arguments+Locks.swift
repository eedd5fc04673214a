internal import DavitControl

extension Arguments {
    /// `list FOLDER` or `break FOLDER LOCK`.
    mutating func locks() throws(UsageError) -> Invocation {
        var stateFolder: String?
        let words = try others { (arguments, word) throws(UsageError) in
            stateFolder = try arguments.stateFolder(word)
        }
        guard var words = words?[...] else { return .help(.locks) }
        guard let first = words.popFirst() else { throw .missingAction }
        guard let word = LocksOptions.Word(rawValue: first) else {
            let known = LocksOptions.Word.allCases.map(\.rawValue)
            throw .unknownCommand("locks \(first)", nearest: Self.nearest(to: first, in: known))
        }
        guard let folder = words.popFirst(), !folder.isEmpty else { throw .missingFolder }
        let action: LocksOptions.Action
        switch word {
        case .list: action = .list
        case .end:
            guard let lock = words.popFirst(), !lock.isEmpty else { throw .missingLock }
            action = .end(LockSelection(word: lock))
        }
        if let more = words.first { throw .moreThanOneFolder(more) }
        return .locks(LocksOptions(action, folder: folder, stateFolder: stateFolder))
    }

    /// Parses `--state-dir`, the only option of commands that inspect the state of a share.
    mutating func stateFolder(_ word: String) throws(UsageError) -> String {
        let (name, value) = Self.parts(of: word)
        let known = ServeOption.stateDir.rawValue
        guard name == known else {
            throw .unknownOption(name, nearest: Self.nearest(to: name, in: [known, "--help"]))
        }
        return try self.value(of: name, behindSign: value)
    }
}
