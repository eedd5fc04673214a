internal import Davit
internal import DavitACME
internal import DavitFileStore
internal import DavitLDAP
internal import DavitOIDC
internal import DavitSandbox
internal import DavitSystem

/// What a server with these options must be able to do.
extension ServeOptions {
    /// Checks `--run-as` and `--sandbox`.
    func checkPrivileges() throws(UsageError) {
        let given = runAs != nil ? ServeOption.runAs : isSandboxed ? ServeOption.sandbox : nil
        guard let given else { return }
        guard ProcessPrivileges.canBeReduced else { throw .needsLinux(option: given.rawValue) }
        // The helper may need the privileges of root, which no program in a sandbox can have.
        if isSandboxed, pam.service != nil {
            throw .conflict(option: ServeOption.sandbox.rawValue, other: ServeOption.pam.rawValue)
        }
        // Programs would inherit the restrictions, and may read any file.
        if isSandboxed, events.hasPrograms || eachShare.contains(where: { $0.uploadCheck.command != nil }) {
            throw .conflict(
                option: ServeOption.sandbox.rawValue,
                other: (events.hasPrograms ? ServeOption.eventCommand : .checkUploads).rawValue)
        }
        // The addresses of the router come from files outside the sandbox.
        if isSandboxed, mappedPort != nil {
            throw .conflict(option: ServeOption.sandbox.rawValue, other: ServeOption.mapPort.rawValue)
        }
        // Its sockets are opened when the server has started, and whenever a network interface appears.
        if isSandboxed, announcement?.includesWindows == true {
            throw .conflict(
                option: ServeOption.sandbox.rawValue, other: ServeOption.announceWindows.rawValue)
        }
        // Its TCP socket is opened later than those of the server.
        if isSandboxed, case .loopback = adminAddress {
            throw .conflict(
                option: ServeOption.sandbox.rawValue,
                other: "\(ServeOption.adminListen.rawValue) HOST:PORT; use a Unix socket")
        }
    }

    /// Returns the sandbox of a server with these options.
    /// - Parameter settings: the configuration file, and the files that it names.
    func sandbox(stateFolders: [String], settings: [String]) -> Sandbox {
        var sandbox = Sandbox()
        let databases = eachShare.compactMap(\.sharedDatabase)
        for database in databases {
            sandbox.changed += database.contentFolders
            // Not their folders, of which one is that of the user: a file that is replaced cannot be read until the next start.
            sandbox.read += database.connectionFiles
        }
        for share in eachShare where share.sharedDatabase == nil {
            let shared = [share.folder] + share.mounts.map(\.folder)
            if share.isReadOnly { sandbox.read += shared } else { sandbox.changed += shared }
            sandbox.changed += [share.homes?.folder].compactMap { $0 }
        }
        sandbox.changed += stateFolders + [recordingFolder].compactMap { $0 }
        sandbox.logs = [accessLog].compactMap { $0 == "-" ? nil : $0 }
        if let file = audit.file {
            if audit.bytes == nil { sandbox.readableLogs = [file] } else { sandbox.rotatedLogs = [file] }
        }
        sandbox.sockets = [unixSocket].compactMap { $0 }
        if case .unixSocket(let socket) = adminAddress { sandbox.sockets.append(socket.path) }
        sandbox.temporary = [TemporaryDirectory.systemPath()]
        sandbox.replaceable =
            [
                userFile, tls.clientAuthorities, tls.acme.settings?.authorities, ldap.settings?.authorities,
                oidc.settings?.authorities, events.authorities,
            ]
            .compactMap { $0 } + tls.certificates + tls.keys + settings
        let connects =
            ldap.settings != nil || oidc.settings != nil || tls.acme.settings != nil || events.hasServices
            || !databases.isEmpty
        if connects { sandbox.read += Sandbox.nameServices }
        sandbox.network.connects = connects
        sandbox.network.usesAbstractSockets = ServiceManager.usesAbstractSocket
        return sandbox
    }
}
