import DavitAccess
import DavitAccounts
import DavitControl
import DavitHTTP
import Testing

struct ControlMessageTests {
    // MARK: Requests

    static let requests: [ControlRequest] =
        [
            .check, .status, .locks(skipped: 0), .locks(skipped: 250), .breakLocks(.token("urn:uuid:1 2\n")),
            .breakLocks(.path([])), .breakLocks(.path(Array("a b/\u{1B}".utf8) + [0xFF, 10])),
            .breakLocks(.path(Array(repeating: 0xFF, count: 40))), .trash(after: 0), .trash(after: .max),
            .restore(id: "abcdefghijklmno7"), .emptyTrash(olderThanDays: 30),
            .uploads(skipped: 0), .uploads(skipped: 100),
            .cancelUpload(id: "abc"), .cancelUpload(id: "a b\n"), .bans(skipped: 0), .bans(skipped: 100),
            .ban(address: "2001:db8:0:0::/64", seconds: 1),
            .ban(address: "a b\n", seconds: ControlRequest.limitBanSeconds), .unban(address: "192.0.2.1"),
            .accounts(.accounts(skipped: 0)), .accounts(.members(skipped: 100)),
            .accounts(.rules(skipped: 7)),
            .accounts(.explain(ExplainedClient(account: "anna b"), folder)),
            .accounts(
                .explain(ExplainedClient(account: "-", groups: ["g 1", "-"], appPassword: "p"), .root)),
            .accounts(.explain(ExplainedClient(account: nil), .root)), .accounts(.review(skipped: 3)),
            .accounts(.appPasswords(account: nil, skipped: 0)),
            .accounts(.appPasswords(account: "a b", skipped: 100)),
            .accounts(.sessions(account: nil, skipped: 0)), .accounts(.sessions(account: "a b", skipped: 7)),
            .accounts(.endSession(id: 1)), .accounts(.endSession(id: .max)),
            .accounts(.addAppPassword(NewAppPassword(account: "a", label: "my phone"))),
            .accounts(
                .addAppPassword(
                    NewAppPassword(account: "a", label: "-", path: .root, rights: Rights.none, days: 30))),
        ] + changes.map { .accounts(.change([$0])) } + [.accounts(.change(changes))]

    private static let folder = ResourcePath(segments: [Array("a b".utf8), [0xFF, 10]])!

    private static let changes: [AccountChange] = [
        .addAccount(StoredAccount(name: "anna b", secret: "$scrypt$ln=15,r=8,p=1$a+/$b")),
        .setSecret(account: "é", secret: "$"), .setEnabled(account: "a", isEnabled: true),
        .setEnabled(account: "a", isEnabled: false), .removeAccount("a"),
        .setSecondFactor(account: "a", nil, keepingSession: nil), .addGroup("g 1"),
        .removeGroup("g 1"), .addMember(account: "a", group: "g"), .removeMember(account: "a", group: "g"),
        .setRule(AccessRule(.user("a:b"), folder, .edit)),
        .setRule(AccessRule(.everyone, .root, [.list, .share])),
        .removeRule(.group("g"), .root), .removeRule(.anonymous, folder),
        .removeAppPassword(account: "a b", id: "p1"),
    ]

    @Test(arguments: requests)
    func requestsAreParsedOnlyIfComplete(request: ControlRequest) throws {
        for count in 0..<request.bytes.count {
            #expect(try ControlRequest.parse(Array(request.bytes.prefix(count))) == nil)
        }
        #expect(try ControlRequest.parse(request.bytes) == request)
        #expect(request.bytes.count < ControlRequest.limitBytes)
    }

    static let statusLines: [StatusLine] = [
        .check(name: "free-space", problem: nil), .check(name: "a b", problem: "x\n\u{1B} ä"),
        .check(name: "", problem: ""), .value(name: "open uploads", text: "3, 10 bytes"),
    ]

    @Test(arguments: statusLines)
    func statusLinesAreParsed(line: StatusLine) {
        #expect(StatusLine(line: line.text) == line)
        #expect(!line.text.contains("\n"))
    }

    @Test(arguments: [
        "", "check", "check =a", "check a -", "check =a b", "value =a -", "other =a =b", "check =a =b =c",
    ])
    func malformedStatusLinesAreRefused(line: String) {
        #expect(StatusLine(line: line) == nil)
    }

    static let refused: [(line: String, why: ControlRequest.Refusal)] = [
        ("\n", .unknown), ("chec\n", .unknown), ("status 1\n", .unknown), ("Check\n", .unknown),
        ("check \n", .unknown),
        ("locks\n", .unknown), ("locks -1\n", .unknown), ("locks 01\n", .unknown), ("locks 1 \n", .unknown),
        ("break-path a\n", .unknown), ("break-path =%\n", .unknown), ("break-path =a b\n", .unknown),
        ("break-path -\n", .unknown), ("break-token\n", .unknown), ("break-path =%61\n", .unknown),
        ("bans -1\n", .unknown), ("ban 0 =a\n", .unknown), ("ban 315360001 =a\n", .unknown),
        ("ban 1 a\n", .unknown), ("unban -\n", .unknown),
        ("check 1\n", .unknown), ("trash\n", .unknown), ("trash -1\n", .unknown), ("trash 01\n", .unknown),
        ("trash 1 2\n", .unknown), ("restore ../../etc\n", .unknown),
        ("restore abcdefghijklmno1\n", .unknown),
        ("empty-trash x\n", .unknown), ("check\r\n", .unknown), ("check\0\n", .unknown), ("check\n\n", .more),
        ("check\ncheck\n", .more), ("accounts\n", .unknown), ("rules -1\n", .unknown),
        ("members 01\n", .unknown), ("explain =a\n", .unknown), ("explain =a =../b\n", .unknown),
        ("explain =a =b//c\n", .unknown), ("explain =%FF =\n", .unknown), ("change\n", .unknown),
        ("change \n", .unknown), ("change add-account =a\n", .unknown),
        ("change add-group =a =b\n", .unknown), ("change set-rule =everyone = everything\n", .unknown),
        ("change set-rule =nobody = view\n", .unknown), ("change set-rule =user: = view\n", .unknown),
        ("change set-rule =everyone = list,read\n", .unknown), ("change drop-table =account\n", .unknown),
        // Only the server creates app passwords and records their use.
        ("change add-app-password\n", .unknown), ("change record-use\n", .unknown),
        ("issue =a =b - -\n", .unknown), ("issue - =b - - -\n", .unknown),
        ("issue =a =b - - x\n", .unknown),
        ("issue =a =b =../c - -\n", .unknown), ("explain =a - -\n", .unknown),
        ("explain =a = - x\n", .unknown), ("app-passwords a 0\n", .unknown), ("sessions a 0\n", .unknown),
        ("sessions - -1\n", .unknown),
        ("end-session x\n", .unknown), ("end-session 01\n", .unknown), ("review x\n", .unknown),
    ]

    @Test(arguments: refused)
    func unknownRequestsAreRefused(line: String, why: ControlRequest.Refusal) {
        #expect(throws: why) { try ControlRequest.parse(Array(line.utf8)) }
    }

    @Test func longLinesAreRefused() {
        let longest = [UInt8](repeating: 0x63, count: ControlRequest.limitBytes - 1)
        #expect(throws: ControlRequest.Refusal.unknown) { try ControlRequest.parse(longest + [10]) }
        #expect(throws: ControlRequest.Refusal.tooLong) { try ControlRequest.parse(longest + [0x63]) }
        #expect(throws: ControlRequest.Refusal.tooLong) { try ControlRequest.parse(longest + [0x63, 10]) }
    }

    // MARK: Responses

    @Test(
        arguments: [
            .account(name: "anna b", isEnabled: true), .account(name: "", isEnabled: false),
            .member(group: "g 1", account: "é"), .member(group: "g", account: nil), .rights(.none),
            .rights([.read, .manage]),
            .rule(AccessRule(.group("g"), folder, .drop)),
            .issued(id: "p", password: "a-b"), .finding("/a user:b view: x"),
            .appPassword(
                StoredAppPassword(id: "p", account: "a b", label: "my phone", secret: "", created: 1)),
            .appPassword(
                StoredAppPassword(
                    id: "p", account: "é", label: "-", secret: "",
                    limit: AccessLimit(path: .root, rights: .none),
                    created: 1, expiry: 2, lastUse: .init(time: 3, address: "::1"))),
        ] as [AccountListLine])
    func accountLinesAreParsed(line: AccountListLine) {
        #expect(AccountListLine(parsing: line.text) == line)
    }

    @Test(arguments: [
        "", "account", "account a enabled", "rule =everyone = x", "rule =x = view", "rights 1", "member =g",
        "issued =a", "finding x", "app-password =p =a =l - - x - - -", "app-password =p =a =l",
    ])
    func malformedAccountLinesAreRefused(text: String) { #expect(AccountListLine(parsing: text) == nil) }

    static let answers: [ControlResponse] = [
        .lines([]), .lines(["row 3 missing from index a"]), .lines(["one", " two "]),
        .refused(reason: "the server runs as another user"),
    ]

    /// A truncated response is rejected, and never read as one with fewer errors.
    @Test(arguments: answers)
    func responsesAreParsedOnlyIfComplete(answer: ControlResponse) throws {
        for count in 0..<answer.bytes.count {
            #expect(try ControlResponse.parse(Array(answer.bytes.prefix(count))) == nil)
        }
        #expect(try ControlResponse.parse(answer.bytes) == answer)
    }

    static let malformed = [
        "\n", "ok\n", "ok \n", "ok -1\n", "ok 101\n", "ok x\n", "yes 1\n", "refused\n", "HTTP/1.1 400 Bad\n",
    ]

    @Test(arguments: malformed)
    func malformedResponsesAreRefused(text: String) {
        #expect(throws: ControlResponse.Malformed.self) { try ControlResponse.parse(Array(text.utf8)) }
    }

    @Test func oversizedResponsesAreRefused() {
        let bytes = [UInt8](repeating: 0x78, count: ControlResponse.limitBytes + 1)
        #expect(throws: ControlResponse.Malformed.self) { try ControlResponse.parse(bytes) }
    }

    @Test func responsesAreTruncatedToTheLimits() throws {
        let long = Array(repeating: String(repeating: "ä", count: 9000), count: 5000)
        let bytes = ControlResponse.lines(long).bytes
        #expect(bytes.count <= ControlResponse.limitBytes)
        guard case .lines(let lines)? = try ControlResponse.parse(bytes) else {
            Issue.record("the parsed response has no lines")
            return
        }
        #expect(lines.count == ControlResponse.limitLines)
        #expect(lines.last == "and 4901 more")
    }

    @Test func controlCharactersInFindingsAreReplaced() throws {
        let bytes = ControlResponse.lines(["tree 2\npage \u{1B}[2J3", "a\rb"]).bytes
        #expect(try ControlResponse.parse(bytes) == .lines(["tree 2", "page ?[2J3", "a?b"]))
        let refusal = ControlResponse.refused(reason: "a\nb").bytes
        #expect(try ControlResponse.parse(refusal) == .refused(reason: "a?b"))
    }
}
