internal import Davit
internal import DavitSandbox
internal import DavitSystem

/// What the process gives up when it starts.
extension ServeCommand {
    /// Changes to the user of `--run-as`, after opening the TCP sockets, because ports below 1024 may require root. Everything
    /// else is opened by the new user: files of the state folder belong to it, and files that are reloaded are readable for it.
    /// - Returns: a configuration with only the addresses, sockets and TLS settings.
    func giveUpPrivileges() throws(CommandFailure) -> Configuration {
        let user = try options.runAs.map { (given) throws(CommandFailure) in try given.process() }
        var configuration = addresses()
        // In a sandbox, neither names can be resolved nor addresses bound.
        if user != nil || options.isSandboxed {
            do throws(ServerError) { try configuration.openSockets() } catch {
                throw CommandFailure(error, folder: options.folder)
            }
        }
        if let user { try become(user) }
        return configuration
    }

    /// Changes to the user of `--run-as`, if it is given.
    func becomeServerUser() throws(CommandFailure) {
        guard let given = options.runAs else { return }
        try become(try given.process())
    }

    private func become(_ user: ProcessUser) throws(CommandFailure) {
        do throws(SystemError) { try user.become() } catch {
            throw .cannotRunAs(user.name, reason: error.description)
        }
        try checkFiles(of: user)
    }

    /// Checks that the new user can read the configuration file and its password files, which were read by the former user:
    /// otherwise the server would start, but no reload could succeed.
    private func checkFiles(of user: ProcessUser) throws(CommandFailure) {
        for path in files {
            do throws(SystemError) { try ProcessPrivileges.checkReadPermission(path) } catch {
                throw .cannotReload(path, user: user.name, reason: error.description)
            }
        }
    }

    /// Returns a configuration with only the addresses, the sockets of a service manager, and the TLS settings, to which a port
    /// for plain HTTP belongs.
    func addresses() -> Configuration {
        var configuration = Configuration()
        configuration.hosts = options.hosts
        configuration.port = options.port
        configuration.tls = options.tls.configuration
        configuration.unixSocket = options.unixSocket.map { given in
            // In an error, the slash distinguishes a path from the name of a host.
            let path = given.contains("/") ? given : "./" + given
            return options.unixSocketMode.map { .init(path: path, mode: $0) } ?? .init(path: path)
        }
        configuration.inheritedSockets = ServiceManager.inheritedSockets()
        if !configuration.inheritedSockets.isEmpty, options.listensByDefault { configuration.hosts = [] }
        return configuration
    }

    /// Restricts the process to what the server needs, before it starts any thread. Creates the folders that only the server uses,
    /// because there are no rules for missing folders.
    func enterSandbox() throws(CommandFailure) {
        let states = try stateFolders()
        let contents = options.eachShare.compactMap(\.sharedDatabase).flatMap(\.contentFolders)
        for folder in states + contents + [options.recordingFolder].compactMap({ $0 })
        where sharedFolder(containing: folder) == nil {
            // If this fails, the server reports it.
            try? ExclusiveFolder.makeFolders(folder)
            // In the sandbox, the folder that contains it cannot be opened.
            try? RootDirectory(opening: folder + "/..").descriptor.sync()
        }
        let gaps: [Sandbox.Gap]
        do throws(SystemError) {
            gaps = try options.sandbox(stateFolders: states, settings: files).enter()
        } catch {
            throw .cannotEnterSandbox(reason: error.description)
        }
        for gap in gaps {
            StandardStreams.writeError("davit: \(gap.text)\n")
        }
    }

    /// Returns the state folders that the server locks: those of the shares and, without `--state-dir`, also those of a server of
    /// only a mounted folder.
    private func stateFolders() throws(CommandFailure) -> [String] {
        var paths: [String] = []
        for share in options.eachShare where share.sharedDatabase == nil {
            let isDefault = share.stateFolder == nil
            for folder in share.folders.prefix(isDefault ? .max : 1) {
                paths.append(
                    try StateAccess(folder: folder, stateFolder: share.stateFolder, isCreated: true).path)
            }
        }
        return paths
    }

    /// Returns the shared folder that contains a path, where the server creates nothing for itself; nil if none does.
    func sharedFolder(containing path: String) -> String? {
        options.eachShare.filter { $0.sharedDatabase == nil }.flatMap(\.folders).first { folder in
            guard let shared = try? ExclusiveFolder.canonical(folder) else { return false }
            return StateFolder.isInside(path, share: shared)
        }
    }
}
