internal import Davit
internal import DavitAccess
internal import DavitCrypto
internal import DavitFileStore
internal import DavitHTTP
internal import DavitSystem

/// `davit setup`: asks a few questions, and writes the configuration of a server, its service and its first account.
package struct SetupCommand {
    /// The user of the service.
    private static let serviceUser = "davit"

    private let options: SetupOptions
    private let dialog: SetupDialog

    package init(options: SetupOptions) {
        self.init(options: options, dialog: .standard(acceptsDefaults: options.acceptsDefaults))
    }

    /// For tests.
    /// - Parameters:
    ///   - lines: the answers; the input ends after the last one.
    ///   - isInteractive: whether a wrong answer is asked for again.
    package init(options: SetupOptions, lines: [String], isInteractive: Bool = false) {
        var rest = lines[...]
        self.init(
            options: options,
            dialog: SetupDialog(
                acceptsDefaults: options.acceptsDefaults,
                readLine: { () throws(CommandFailure) in rest.popFirst() ?? "" },
                isInteractive: isInteractive, write: { _ in }))
    }

    private init(options: SetupOptions, dialog: SetupDialog) {
        self.options = options
        self.dialog = dialog
    }

    /// Asks, writes, and prints what to do next. Blocks.
    func run() throws(CommandFailure) {
        let plan = try plan()
        // The password is entered here, or chosen with a link when the server runs.
        var chosen: [UInt8]?
        if Terminal.isInput, !options.acceptsDefaults, !hasAccounts(plan) {
            StandardStreams.writeError(
                "Password of \(plan.account); leave it empty to choose it in the browser with a link.\n")
            let typed = try PasswordCommand.readPassword()
            if !typed.isEmpty { chosen = typed }
        }
        let (text, link) = try apply(plan, password: chosen)
        StandardStreams.writeOutput(text + plan.nextSteps(link: link))
    }

    // MARK: Questions

    /// Asks the questions whose answers are not among the options. Blocks.
    package func plan() throws(CommandFailure) -> SetupPlan {
        let isRoot = ProcessPrivileges.isRoot
        let current = try? ExclusiveFolder.canonical(".")
        let folder = try answer(
            "Folder to share", options.folder,
            isRoot || isImage ? "/srv/files" : (Environment.variable("HOME") ?? "") + "/davit"
        ) { (text) throws(SetupProblem) in
            let path = try SetupQuestion.folder(text, in: current)
            try checkFolder(path)
            return path
        }
        let reach: SetupOptions.Reach
        if let given = options.reach {
            reach = given
        } else {
            reach = try dialog.ask(
                "Who may reach it: this machine, the network, or the internet (machine, network, internet)",
                default: SetupOptions.Reach.network.rawValue, SetupQuestion.reach)
        }
        let name: String
        if let given = options.name {
            name = given
        } else {
            name = try dialog.ask("Name or address that clients use", default: Self.standardName(reach)) {
                (text) throws(SetupProblem) in
                let name = try SetupQuestion.name(text)
                if reach == .internet, !name.contains(".") {
                    throw SetupProblem(
                        "expected a name that is registered in the DNS, such as files.example.org")
                }
                return name
            }
        }
        let account = try answer(
            "Name of the first account", options.account, Environment.variable("SUDO_USER") ?? "admin",
            SetupQuestion.account)
        let startsAtBoot: Bool
        let canStart: (Bool) throws(SetupProblem) -> Bool = { (starts) throws(SetupProblem) in
            if starts, let problem = bootProblem() { throw SetupProblem(problem) }
            return starts
        }
        if let given = options.startsAtBoot {
            do throws(SetupProblem) { startsAtBoot = try canStart(given) } catch {
                throw .setupAnswer(question: "--boot", problem: error.text)
            }
        } else {
            startsAtBoot = try dialog.ask(
                "Start the server with the machine (yes, no)", default: bootProblem() == nil ? "yes" : "no"
            ) { (text) throws(SetupProblem) in
                try canStart(SetupQuestion.boolean(text))
            }
        }
        return finished(folder, reach, name, account, startsAtBoot: startsAtBoot, isRoot: isRoot)
    }

    private func finished(
        _ folder: String, _ reach: SetupOptions.Reach, _ name: String, _ account: String, startsAtBoot: Bool,
        isRoot: Bool
    ) -> SetupPlan {
        let instance = SetupPlan.instance(of: folder)
        // The default of 'davit serve' depends on the user and the path, which are others in the image.
        let hasOwnState = startsAtBoot || isImage
        let file: String
        if let given = options.file {
            file = given
        } else if startsAtBoot {
            file = "/etc/davit/\(instance).yaml"
        } else {
            let home =
                Environment.variable("XDG_CONFIG_HOME") ?? (Environment.variable("HOME") ?? "") + "/.config"
            file = isRoot || isImage ? "/etc/davit/davit.yaml" : home + "/davit/davit.yaml"
        }
        return SetupPlan(
            folder: folder, reach: reach, name: name, account: account, startsAtBoot: startsAtBoot,
            port: options.port ?? SetupPlan.standardPort(reach), file: file,
            stateFolder: options.stateFolder ?? (hasOwnState ? "/var/lib/davit/\(instance)" : nil),
            program: (try? ExclusiveFolder.canonical("/proc/self/exe")) ?? "davit")
    }

    private func answer(
        _ question: String, _ given: String?, _ standard: String,
        _ check: (String) throws(SetupProblem) -> String
    ) throws(CommandFailure) -> String {
        guard let given else { return try dialog.ask(question, default: standard, check) }
        do throws(SetupProblem) { return try check(given) } catch {
            throw .setupAnswer(question: question, problem: error.text)
        }
    }

    private static func standardName(_ reach: SetupOptions.Reach) -> String {
        switch reach {
        case .machine: return "localhost"
        case .network:
            guard let own = HostName.current, (try? SetupQuestion.name(own)) != nil else {
                return InterfaceAddresses.primary(.ipv4)?.text ?? "localhost"
            }
            return own.contains(".") ? own : own + ".local"
        case .internet: return HostName.current ?? "files.example.org"
        }
    }

    private func checkFolder(_ path: String) throws(SetupProblem) {
        guard (try? ExclusiveFolder.hasEntry(at: place(path))) == true else { return }
        do throws(FileResourceStore.RootError) { _ = try FileResourceReader(root: place(path)) } catch {
            throw SetupProblem(CommandFailure(.shareNotUsable(path: path, error), folder: path).message)
        }
    }

    /// Why the service cannot be set up; nil if it can.
    private func bootProblem() -> String? {
        guard ProcessPrivileges.isRoot else {
            return "starting with the machine requires root: run sudo davit setup"
        }
        let places = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"]
        let isInstalled = places.contains {
            (try? ExclusiveFolder.hasEntry(at: "\(options.root)\($0)/davit@.service")) == true
        }
        return isInstalled ? nil : "the units are not installed: see docs/systemd.md, or install the package"
    }

    // MARK: Files

    /// Whether the server will run in a system image that is now a folder of this machine.
    private var isImage: Bool { !options.root.isEmpty }

    /// Returns where a file of the plan is on this machine.
    private func place(_ path: String) -> String {
        !isImage ? path : options.root + (path.hasPrefix("/") ? path : "/" + path)
    }

    /// Writes everything. Blocks.
    /// - Parameter password: nil to make a link with which the user chooses it.
    /// - Returns: what was done, for people, and the query of the URL of the link; nil without one.
    package func apply(
        _ plan: SetupPlan, password: [UInt8]?
    ) throws(CommandFailure) -> (text: String, link: String?) {
        let files = [(path: plan.file, content: plan.configuration)] + plan.unitFiles
        for file in files { try checkReplacement(of: place(file.path)) }
        try makeParent(of: place(plan.file))
        try check(plan.configuration, of: place(plan.file))
        let hasAccounts = hasAccounts(plan)
        let link =
            password == nil && !hasAccounts
            ? try PasswordLinks.make(of: plan.account, hours: AccountOptions.standardHours) : nil
        var text = ""

        let folder = place(plan.folder)
        let isNew = (try? ExclusiveFolder.hasEntry(at: folder)) != true
        if isNew {
            try make { () throws(SystemError) in try ExclusiveFolder.makeFolders(folder) }
            text += "created the folder \(folder)\n"
        }
        let stateFolder = plan.stateFolder.map(place)
        // The account comes before the configuration: a server without accounts must never be reachable.
        if hasAccounts {
            text += "kept the accounts of \(folder)\n"
        } else {
            let account = AccountCommand(
                options: AccountOptions(
                    .addAccount(plan.account, rights: .all), folder: folder, stateFolder: stateFolder))
            if let link {
                text += try account.text(secret: link.secret, link: "")
            } else {
                text += try account.text(password: password ?? [])
            }
        }

        for file in files {
            let path = place(file.path)
            try makeParent(of: path)
            try write(file.content, to: path, mode: file.path == plan.file ? 0o640 : 0o644)
            text += "wrote \(path)\n"
        }
        if plan.startsAtBoot {
            text += try giveToService(
                [isNew ? folder : nil, place(plan.file)].compactMap { $0 }, stateFolder: stateFolder)
        }
        return (text, link?.query)
    }

    /// Whether the state folder has a database of accounts, which is kept.
    private func hasAccounts(_ plan: SetupPlan) -> Bool {
        let state = try? StateAccess(
            folder: place(plan.folder), stateFolder: plan.stateFolder.map(place),
            isCreated: true)
        return state?.hasAccounts ?? false
    }

    private func checkReplacement(of path: String) throws(CommandFailure) {
        guard !options.replaces, (try? ExclusiveFolder.hasEntry(at: path)) == true else { return }
        // The default is to keep the file, also for scripts.
        let replaces = try dialog.ask(
            "\(path) exists. Replace it (yes, no)", default: "no", SetupQuestion.boolean)
        if !replaces { throw .setupFileExists(path) }
    }

    /// Checks the content of the configuration file, which can name folders that do not exist yet, before it replaces another one.
    private func check(_ content: String, of path: String) throws(CommandFailure) {
        let draft = path + ".draft"
        try write(content, to: draft, mode: 0o600)
        defer { try? Self.remove(draft) }
        var sources = ServeSources()
        sources.file = draft
        _ = try ServePlan(sources)
    }

    private func makeParent(of path: String) throws(CommandFailure) {
        let folder = Self.parts(of: path).folder
        if (try? ExclusiveFolder.hasEntry(at: folder)) == true { return }
        try make { () throws(SystemError) in
            try ExclusiveFolder.makeFolders(folder)
            // The user of the service reads it.
            let made = try RootDirectory(opening: folder)
            try made.descriptor.setMode(0o755)
        }
    }

    /// Returns the folder of a file, and the name of the file in it.
    private static func parts(of path: String) -> (folder: String, name: [UInt8]) {
        guard let slash = path.lastIndex(of: "/") else { return (".", Array(path.utf8)) }
        return (
            slash == path.startIndex ? "/" : String(path[..<slash]),
            Array(path[path.index(after: slash)...].utf8)
        )
    }

    private static func remove(_ path: String) throws(SystemError) {
        let (folder, name) = parts(of: path)
        let parent = try RootDirectory(opening: folder)
        try parent.descriptor.unlink(name)
    }

    /// Makes a user the owner of a folder or of a file, which must not be a link.
    private static func give(_ path: String, to user: ProcessUser) throws(SystemError) {
        let (folder, name) = parts(of: path)
        let parent = try RootDirectory(opening: folder)
        let isFolder = try parent.descriptor.status(of: name).kind == .directory
        let file = try parent.descriptor.open(name, for: isFolder ? .entries : .content)
        try file.setOwner(user.user, group: user.group)
    }

    private func write(_ content: String, to path: String, mode: UInt32) throws(CommandFailure) {
        do throws(SystemError) { try SmallFile.write(Array(content.utf8), to: path, mode: mode) } catch {
            throw .other("cannot write \(path): \(error.description)")
        }
    }

    private func make(_ work: () throws(SystemError) -> Void) throws(CommandFailure) {
        do throws(SystemError) { try work() } catch {
            throw .other("cannot create a folder: \(error.description)")
        }
    }

    /// Makes the user of the service the owner of what was created for it.
    private func giveToService(_ paths: [String], stateFolder: String?) throws(CommandFailure) -> String {
        let user: ProcessUser
        do throws(ProcessUser.Failure) { user = try ProcessUser(named: Self.serviceUser, group: nil) } catch {
            return "the user davit does not exist yet: run systemd-sysusers, and give it the folder\n"
        }
        var all = paths
        if let stateFolder {
            all.append(stateFolder)
            let names = (try? PrivateFolder.names(in: stateFolder)) ?? []
            all += names.map { "\(stateFolder)/\($0)" }
        }
        for path in all {
            do throws(SystemError) { try Self.give(path, to: user) } catch {
                throw .other("cannot give \(path) to the user davit: \(error.description)")
            }
        }
        return ""
    }
}
