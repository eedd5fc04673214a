import DavitCommand
import Testing

struct FailureTests {
    static let failures: [(failure: CommandFailure, words: [String])] = [
        (.folderMissing("/srv"), ["folder /srv does not exist", "mkdir -p '/srv'"]),
        (.notAFolder("/f"), ["/f is not a folder", "the folder that contains"]),
        (.folderNotReadable("/srv"), ["cannot read folder /srv", "permissions"]),
        (.portInUse(host: "localhost", port: 8080), ["8080", "localhost", "--port"]),
        (.portNeedsPrivileges(port: 80), ["80", "--port 8080"]),
        (.addressNotAvailable(host: "192.0.2.1"), ["192.0.2.1", "--host localhost"]),
        (.socketInUse("/run/s"), ["/run/s is in use", "another path"]),
        (.notASocket("./f"), ["./f exists and is not a socket", "another path"]),
        (.notAnAuditLog("/f"), ["/f is not an audit log", "--audit-log FILE"]),
        (.accountGivenTwice(name: "anna"), ["'anna' is given twice", "--user"]),
        (
            .programNotUsable("/p", reason: "access: Permission denied", option: "--check-uploads"),
            ["--check-uploads: cannot execute /p: access", "write a script"]
        ),
        (
            .certificateNotUsable("/c", reason: "cannot read file", option: "--tls-cert"),
            ["--tls-cert: /c: cannot read file", "PEM"]
        ),
        (.socketNotUsable("/run/s: Permission denied"), ["/run/s: Permission denied", "folder"]),
        (
            .accessLogNotWritable("/l", reason: "Permission denied"),
            ["cannot write access log /l: Permission", "- for"]
        ),
        (.auditLogNotWritable("/l", reason: "Permission denied"), ["audit log /l: Permission", "folder"]),
        (.auditLogNotReadable("/l", reason: "Permission denied"), ["audit log /l: Permission", "root"]),
        (
            .logInShare(option: "--audit-log", "/srv/l", share: "/srv"),
            ["--audit-log: /srv/l is inside the shared folder /srv", "--audit-log /"]
        ),
        (.auditLogNotInFile("syslog"), ["sent to syslog", "davit-audit"]),
        (.noAuditLog, ["no audit log", "--audit-log FILE"]),
        (
            .standardErrorNotWritable(reason: "Bad file descriptor"),
            ["to standard error: Bad file descriptor", "Choose a file"]
        ),
        (.unknownHost("nowhere"), ["nowhere", "address"]),
        (.stateFolderNotWritable("/s", reason: "Read-only file system"), ["/s", "Read-only", "--state-dir"]),
        (.stateFolderInShare(state: "/srv/s", share: "/srv"), ["/srv/s is inside", "--state-dir"]),
        (.stateFolderHeld("/s", process: 0), ["/s", "another davit", "--state-dir"]),
        (.stateFolderHeld("/s", process: 77), ["/s", "pid 77", "--state-dir"]),
        (.stateFromNewerVersion("/s"), ["/s", "newer", "--state-dir"]),
        (.stateUnreadable("/s", reason: "malformed"), ["in /s", "malformed", "away"]),
        (.stateDamaged("/s"), ["/s is damaged", "Stop the server"]),
        (.noState("/s", share: "/srv"), ["no state for /srv in /s", "--state-dir"]),
        (
            .serverSilent("/s", process: 0, reason: "gone"),
            ["request to the server", "/s failed: gone", "stop the server"]
        ),
        (.serverSilent("/s", process: 77, reason: "gone"), ["pid 77", "/s", "gone", "stop the server"]),
        (.noStateFolder, ["HOME", "--state-dir"]),
        (
            .userFileUnreadable("/u", reason: "Permission denied"),
            ["/u", "Permission denied", "NAME:PASSWORD"]
        ),
        (.userFileNotPrivate("/u"), ["/u", "chmod 600 '/u'"]),
        (.userFileLine("/u", line: 3, problem: "missing colon"), ["line 3 of /u", "missing colon", "#"]),
        (.userFileEmpty("/u"), ["/u", "NAME:PASSWORD"]),
        (.recordingFolderNotWritable("/r", reason: "No space"), ["in /r: No space", "--record"]),
        (.recordingFolderNotEmpty("/r"), ["/r", "not empty", "--record"]),
        (
            .recordingFolderInShare("/srv/r", share: "/srv"),
            ["/srv/r", "inside the shared folder /srv", "--record"]
        ),
        (.recordingUnreadable("/r/1.txt", reason: "line 3: no"), ["/r/1.txt", "line 3: no", "--record"]),
        (.noRecording("/r"), ["no recording in /r", "--record"]),
        (.cannotReplay(reason: "it is gone"), ["it is gone", "--user"]),
        (.badUser(name: "anna", problem: "it is there twice"), ["'anna'", "twice", "another"]),
    ]

    @Test(arguments: failures)
    func errorTextsStateWhatToDo(failure: CommandFailure, words: [String]) {
        let text = ErrorText.of(failure)
        for word in words { #expect(text.contains(word)) }
        let lines = text.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0].hasPrefix("davit: "))
        #expect(text.hasSuffix("\n"))
    }

    @Test func errorForAnOpenServerListsBothSolutions() {
        let text = ErrorText.of(CommandFailure.openToEverybody(host: "0.0.0.0"))
        #expect(text.contains("--user NAME:PASSWORD"))
        #expect(text.contains("--host localhost"))
    }
}
