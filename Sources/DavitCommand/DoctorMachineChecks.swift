internal import Davit
internal import DavitSandbox
internal import DavitSystem

/// The addresses that the server listens on.
enum AddressCheck: DoctorCheck {
    static let name = "addresses"

    static func findings(_ context: DoctorContext) -> [DoctorFinding] {
        let options = context.options
        var findings: [DoctorFinding] = []
        for host in options.hosts {
            var configuration = Configuration()
            configuration.hosts = [host]
            configuration.port = options.port
            do throws(ServerError) {
                try configuration.checkSockets()
                findings.append(.ok("\(host) port \(options.port) is free"))
            } catch {
                findings.append(finding(CommandFailure(error, folder: options.folder), context))
            }
        }
        if let path = options.unixSocket { findings.append(socketFinding(path)) }
        return findings
    }

    private static func finding(_ failure: CommandFailure, _ context: DoctorContext) -> DoctorFinding {
        guard case .portInUse(let host, let port) = failure else { return .problem(failure) }
        guard let owner = PortOwner.listening(on: port) else {
            if !context.runningProcesses.isEmpty {
                return .warning(
                    "\(failure.message), probably by the running server",
                    "Run 'davit doctor' as root to see which process it is.")
            }
            return .problem(
                "\(failure.message) by a process of another user",
                "Run 'davit doctor' as root to see which process it is, or choose another port.")
        }
        let text = "\(host) port \(port) is used by \(owner.name) (pid \(owner.process))"
        if context.runningProcesses.contains(owner.process) {
            return .ok("\(text), the server of this share")
        }
        if owner.process == 1 { return .ok("\(text), which passes it to the service") }
        return .problem(
            text, "Stop that program, or choose another port: --port \(port == .max ? port - 1 : port + 1)")
    }

    private static func socketFinding(_ path: String) -> DoctorFinding {
        let folder = Sandbox.folder(of: path)
        do throws(SystemError) {
            try ProcessPrivileges.checkChangePermission(folder)
        } catch {
            return .problem(
                "cannot create the socket \(path): \(error.description)",
                "Choose a path in a folder that \(ProcessPrivileges.userName) can write to, such as /run/davit."
            )
        }
        return .ok("the socket \(path) can be created")
    }
}

/// The host names of public URLs.
enum HostNameCheck: DoctorCheck {
    static let name = "names"

    static func findings(_ context: DoctorContext) -> [DoctorFinding] {
        let own = Set(InterfaceAddresses.all().map(\.text))
        var names: [String] = []
        for url in context.options.publicURLs where !names.contains(url.host) { names.append(url.host) }
        return names.map { finding($0, own, isProxied: !context.options.proxies.trusted.isEmpty) }
    }

    private static func finding(_ name: String, _ own: Set<String>, isProxied: Bool) -> DoctorFinding {
        let host = name.hasPrefix("[") ? String(name.dropFirst().dropLast()) : name
        let addresses: [SocketAddress]
        do throws(SocketAddress.LookUpError) {
            addresses = try SocketAddress.lookUp(host: host, port: 0)
        } catch {
            return .problem(
                "\(name) has no address",
                "Add a DNS record for it that leads to this machine, or to its router.")
        }
        let texts = addresses.map(\.text)
        let list = texts.joined(separator: ", ")
        if texts.allSatisfy({ own.contains($0) }) { return .ok("\(name) is this machine (\(list))") }
        if isProxied { return .ok("\(name) is \(list); the trusted proxies forward its requests") }
        if texts.contains(where: { own.contains($0) }) {
            return .warning(
                "\(name) has addresses that are not those of this machine (\(list))",
                "Remove the DNS records of the others, or clients may reach another machine.")
        }
        return .warning(
            "\(name) is \(list), which is not an address of this machine",
            "This is right if a router or proxy forwards the port to this machine; check with --url.")
    }
}

/// The time of the system.
package enum ClockCheck: DoctorCheck {
    static let name = "clock"
    /// 1 January of 2025 and 2100, in seconds since 1970.
    private static let plausible: ClosedRange<Int64> = 1_735_689_600...4_102_444_800

    static func findings(_ context: DoctorContext) -> [DoctorFinding] {
        [finding(seconds: Clock.wallNow() / 1_000_000_000, isSynchronized: Clock.isSynchronized)]
    }

    /// - Parameter seconds: the time since 1970.
    package static func finding(seconds: Int64, isSynchronized: Bool?) -> DoctorFinding {
        let advice = "Enable a time service: timedatectl set-ntp true"
        guard plausible.contains(seconds) else {
            return .problem("the time of the system is wrong: \(seconds) seconds since 1970", advice)
        }
        switch isSynchronized {
        case true?: return .ok("the clock is synchronized")
        case false?:
            return .warning(
                "no time service synchronizes the clock; locks, certificates and versions depend on it",
                advice)
        case nil: return .ok("the time is plausible; the system does not report whether it is synchronized")
        }
    }
}

/// Limits of the system for open files and watched folders.
package enum LimitCheck: DoctorCheck {
    static let name = "limits"
    /// Descriptors that are not connections: databases, watched folders, files of open responses.
    private static let reserve = 512
    private static let watches = 8192
    private static let instances = 128

    static func findings(_ context: DoctorContext) -> [DoctorFinding] {
        let connections = context.options.maximumConnections ?? Configuration().maxConnections
        var findings = [descriptors(ResourceLimits.raiseDescriptorLimit(), connections: connections)]
        if context.options.eachShare.contains(where: \.answersSyncCollection) {
            findings += watched("max_user_watches", least: watches)
            findings += watched("max_user_instances", least: instances)
        }
        return findings
    }

    package static func descriptors(_ limit: Int, connections: Int) -> DoctorFinding {
        if limit >= connections + reserve { return .ok("up to \(limit) open files") }
        return .warning(
            "the limit of \(limit) open files is too low for \(connections) connections",
            "Raise it (LimitNOFILE=65536 in a systemd unit, ulimit -n in a shell), or set --max-connections.")
    }

    private static func watched(_ name: String, least: Int) -> [DoctorFinding] {
        guard let file = try? SmallFile(reading: "/proc/sys/fs/inotify/\(name)"),
            let limit = Int(String(decoding: file.bytes.prefix { $0 != 10 }, as: UTF8.self))
        else { return [] }
        if limit >= least { return [.ok("\(name) is \(limit)")] }
        return [
            .warning(
                "\(name) is only \(limit): changes by other programs may be noticed late",
                "Raise it: sysctl fs.inotify.\(name)=\(least * 8)")
        ]
    }
}

/// What `--sandbox` needs.
enum SandboxCheck: DoctorCheck {
    static let name = "sandbox"

    static func findings(_ context: DoctorContext) -> [DoctorFinding] {
        guard ProcessPrivileges.canBeReduced else { return [] }
        let gaps = Sandbox.gaps
        if gaps.isEmpty {
            return [
                .ok(
                    "files and system calls can be restricted"
                        + (context.options.isSandboxed ? "" : " (--sandbox)"))
            ]
        }
        return gaps.map { gap in
            let text = gap.text
            if context.options.isSandboxed {
                return .warning(
                    text, "The server starts without this restriction; see docs/configuration.md.")
            }
            return .ok("\(text); this concerns only --sandbox")
        }
    }
}
