internal import Davit
internal import DavitControl
internal import DavitFileStore
internal import DavitSystem

/// The permissions of the shared folders and the state folders.
enum FolderCheck: DoctorCheck {
    static let name = "folders"

    static func findings(_ context: DoctorContext) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        for share in context.options.eachShare {
            let folders = sharedFolders(share)
            findings += folders
            // Without the shared folder, the state folder is not known.
            if folders[0].level == .problem, share.stateFolder == nil { continue }
            do throws(CommandFailure) {
                let state = try StateAccess(
                    folder: share.folder, stateFolder: share.stateFolder, isCreated: true)
                findings.append(stateFolder(state.path))
            } catch {
                let finding = DoctorFinding.problem(error)
                if !folders.contains(finding) { findings.append(finding) }
            }
        }
        if !context.isServerUser {
            findings.append(
                .warning(
                    "checked as root, who may do everything",
                    "Run the check as the user of the server: sudo -u davit davit doctor …"))
        }
        return findings
    }

    /// Returns why a folder cannot be shared; nil if it can.
    static func unusable(_ folder: String) -> CommandFailure? {
        do throws(FileResourceStore.RootError) { _ = try FileResourceReader(root: folder) } catch {
            return CommandFailure(.shareNotUsable(path: folder, error), folder: folder)
        }
        return nil
    }

    private static func sharedFolders(_ share: ServeOptions) -> [DoctorFinding] {
        share.folders.map { folder in
            if let failure = unusable(folder) { return .problem(failure) }
            if share.isReadOnly { return .ok("\(folder) can be read") }
            do throws(SystemError) { try ProcessPrivileges.checkChangePermission(folder) } catch {
                return .problem(
                    "\(ProcessPrivileges.userName) cannot change files in \(folder): \(error.description)",
                    "Give the folder to that user (chown, chgrp and chmod g+w), or serve with --read-only.")
            }
            return .ok("\(ProcessPrivileges.userName) can read and change \(folder)")
        }
    }

    private static func stateFolder(_ path: String) -> DoctorFinding {
        var existing = path
        while (try? ExclusiveFolder.hasEntry(at: existing)) != true, existing.utf8.count > 1 {
            guard let slash = existing.lastIndex(of: "/") else { break }
            existing = slash == existing.startIndex ? "/" : String(existing[..<slash])
        }
        do throws(SystemError) { try ProcessPrivileges.checkChangePermission(existing) } catch {
            return .problem(.stateFolderNotWritable(path, reason: "\(existing): \(error.description)"))
        }
        return .ok(existing == path ? "state is stored in \(path)" : "state folder \(path) will be created")
    }
}

/// What the volumes of the folders can do, and their free space.
package enum VolumeCheck: DoctorCheck {
    static let name = "volumes"
    /// Less free space than this, in addition to what `--keep-free` reserves, is worth a warning.
    private static let scarceBytes: Int64 = 1 << 30
    private static let scarceFiles: Int64 = 10_000

    static func findings(_ context: DoctorContext) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        for share in context.options.eachShare {
            for folder in share.folders {
                // A folder that cannot be opened is reported by another check.
                guard let probe = try? VolumeProbe(folder, writes: !share.isReadOnly) else { continue }
                findings += features(probe, share)
                findings += space(
                    probe.path, bytes: probe.availableBytes, files: probe.availableFiles,
                    keeps: share.keptFreeBytes)
            }
        }
        for state in context.states {
            guard let probe = try? VolumeProbe(state.path, writes: false) else { continue }
            findings += space(probe.path, bytes: probe.availableBytes, files: probe.availableFiles, keeps: 0)
        }
        return findings
    }

    private static func features(_ probe: VolumeProbe, _ share: ServeOptions) -> [DoctorFinding] {
        if probe.isReadOnly, !share.isReadOnly {
            return [
                .problem(
                    "\(probe.path) is on a volume that is mounted read-only",
                    "Mount it for writing, or use --read-only.")
            ]
        }
        if let problem = probe.problem {
            return [
                .problem(
                    "cannot create files in \(probe.path): \(problem)", "Check the permissions and the quota."
                )
            ]
        }
        var findings: [DoctorFinding] = []
        for feature in VolumeProbe.Feature.allCases where probe.missing.contains(feature) {
            let (text, advice) = explanation(feature)
            findings.append(.warning("\(probe.path): \(text)", advice))
        }
        if probe.ignoresCase {
            findings.append(
                .warning(
                    "\(probe.path): the volume ignores case in names",
                    "Clients that use names that differ only in case reach the same file."))
        }
        if !probe.isLocal, share.answersSyncCollection {
            findings.append(
                .warning(
                    "\(probe.path): the volume is not known to be local",
                    "Changes that other machines make are found when folders are listed, not immediately."))
        }
        if findings.isEmpty {
            findings.append(.ok("\(probe.path): the volume has all features that davit uses"))
        }
        return findings
    }

    private static func explanation(_ feature: VolumeProbe.Feature) -> (String, String) {
        switch feature {
        case .unnamedFiles:
            (
                "the volume has no unnamed files (O_TMPFILE)",
                "Uploads use hidden files instead; nothing needs to be done."
            )
        case .exchange, .exclusiveRename:
            (
                "the volume cannot \(feature == .exchange ? "exchange names" : "rename without replacing") in one step",
                "Changes by other programs at the same moment can be lost; prefer ext4, XFS, Btrfs or ZFS."
            )
        case .attributes:
            ("the volume has no extended attributes", "Attributes of replaced and copied files are lost.")
        case .sync: ("the volume cannot sync files", "--sync has no effect; prefer a local volume.")
        case .locks:
            (
                "the volume has no file locks",
                "Leftovers of interrupted uploads are not removed; prefer a local volume."
            )
        }
    }

    /// - Parameters:
    ///   - files: nil without a limit.
    ///   - keeps: the bytes that `--keep-free` reserves.
    package static func space(_ path: String, bytes: Int64, files: Int64?, keeps: Int64) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        let shown = "\(bytes >> 20) MiB are free for \(path)"
        if bytes <= keeps {
            findings.append(
                .problem(
                    keeps > 0 ? "\(shown), and --keep-free reserves \(keeps >> 20) MiB" : shown,
                    "Delete files, enlarge the volume, or reserve less."))
        } else if bytes - keeps < scarceBytes {
            findings.append(.warning(shown, "Delete files, or enlarge the volume."))
        } else {
            findings.append(.ok(shown))
        }
        if let files, files < scarceFiles {
            let text = "only \(files) more files can be created on the volume of \(path)"
            let advice = "Delete files, or create the file system with more inodes."
            findings.append(files == 0 ? .problem(text, advice) : .warning(text, advice))
        }
        return findings
    }
}

/// The databases in the state folders.
enum StateCheck: DoctorCheck {
    static let name = "state"

    static func findings(_ context: DoctorContext) -> [DoctorFinding] {
        context.states.map { state in
            do throws(CommandFailure) {
                let access = try StateAccess(
                    folder: state.options.folder, stateFolder: state.path, isCreated: true)
                guard let problems = try access.quickCheck() else {
                    return .ok("no state for \(state.share) yet")
                }
                if problems.isEmpty { return .ok("the databases in \(state.path) are sound") }
                let failure = CommandFailure.stateDamaged(state.path)
                return .problem("\(failure.message): \(problems[0])", failure.advice)
            } catch {
                return .problem(error)
            }
        }
    }
}

/// The running servers.
enum ServerCheck: DoctorCheck {
    static let name = "server"

    static func findings(_ context: DoctorContext) -> [DoctorFinding] {
        context.states.map { state in
            guard let lines = state.status else { return .ok("no server is sharing \(state.share)") }
            for case .check(let name, let problem?) in lines {
                return .problem(
                    "the server of \(state.share) is not ready: \(name): \(problem)",
                    "See its log for the cause.")
            }
            return .ok("the server of \(state.share) is ready" + (state.process.map { " (pid \($0))" } ?? ""))
        }
    }
}
