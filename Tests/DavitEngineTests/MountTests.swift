import DavitAccess
import DavitEngine
import DavitHTTP
import DavitJournal
import DavitStore
import DavitTesting
import Testing

/// Folders mounted in a share. `/team` does not exist in the root folder, `/a/b` hides a folder.
struct MountTests {
    /// A share on disk, in which folders of another volume or of the same one are mounted.
    final class Tree: Sendable {
        let root: TemporaryFolder
        let team: TemporaryFolder
        let below: TemporaryFolder
        let share: TestShare

        init(
            teamIn parent: String, journal: ShareJournal.Options? = nil,
            _ configure: (inout ShareConfiguration) -> Void = { _ in }
        ) throws {
            root = try TemporaryFolder(in: "/tmp")
            team = try TemporaryFolder(in: parent)
            below = try TemporaryFolder(in: parent)
            #expect(
                ShellCommand.run("mkdir -p '\(root.path)/a/b' && echo x >'\(root.path)/a/b/hidden'")?.status
                    == 0)
            share = try TestShare(
                root,
                mounts: [
                    (MountTests.path("team"), team), (MountTests.path("a/b"), below),
                ],
                journal: journal, configure)
        }
    }

    static let parents = ["/tmp", "/dev/shm"]

    static func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.utf8.split(separator: UInt8(ascii: "/"))) ?? .root
    }

    static let scenarios: [Scenario] = [
        Scenario(
            "a mounted folder is listed by the collection above it, in place of what it hides",
            [
                step(
                    "PROPFIND /", [("Depth", "1")], nil, 207,
                    holds: ["<D:href>/team/</D:href>", "<D:href>/a/</D:href>"]),
                step("PROPFIND /a/", [("Depth", "1")], nil, 207, holds: ["<D:href>/a/b/</D:href>"]),
                step("PROPFIND /a/b/", [("Depth", "1")], nil, 207, lacks: ["hidden"]),
                step("GET /a/b/hidden", [], nil, 404),
                step("PUT /a/b/hidden", [], "new", 201),
                step("GET /a/b/hidden", [], nil, 200, holds: ["new"]),
                shell("grep -q x a/b/hidden"),
                step("PUT /team/x", [], "1", 201),
                step(
                    "PROPFIND /", [("Depth", "infinity")], nil, 207,
                    holds: ["<D:href>/team/x</D:href>", "<D:href>/a/b/hidden</D:href>"]),
            ]),
        Scenario(
            "RFC 4918 §9.6, §9.8, §9.9: a mount point cannot be removed, moved or replaced, nor what contains it",
            [
                step("MKCOL /team", [], nil, 405),
                step("DELETE /team", [], nil, 403), step("DELETE /team/", [], nil, 403),
                step("DELETE /a", [], nil, 403),
                step("MOVE /team", [("Destination", "/other")], nil, 403),
                step("MOVE /a", [("Destination", "/other")], nil, 403),
                step("MKCOL /new", [], nil, 201), step("PUT /new/x", [], "1", 201),
                step("MOVE /new", [("Destination", "/team")], nil, 403),
                step("COPY /new", [("Destination", "/team")], nil, 403),
                step("COPY /new", [("Destination", "/a")], nil, 403),
                step("MOVE /new/x", [("Destination", "/team")], nil, 403),
                step("GET /new/x", [], nil, 200),
                // A copy would have to leave out the mounted folder.
                step("COPY /a", [("Destination", "/c")], nil, 403),
                step("COPY /a", [("Destination", "/c"), ("Depth", "0")], nil, 201),
                step("PUT /team/x", [], "1", 201),
                step("COPY /team", [("Destination", "/copy")], nil, 201),
                step("GET /copy/x", [], nil, 200, holds: ["1"]),
            ]),
        Scenario(
            "RFC 4918 §7.7, §9.9: MOVE between folders keeps properties, but not locks",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/x", [], "1", 201),
                step("PROPPATCH /d/x", [], setProperty("p", "v"), 207),
                lock("/d/x", depth: "0"),
                step("MOVE /d", [("Destination", "/team/d")], nil, 423),
                step("MOVE /d", [("Destination", "/team/d"), ("If", "</d/x> (<$1>)")], nil, 201),
                step("GET /d", [], nil, 404),
                step("GET /team/d/x", [], nil, 200, holds: ["1"]),
                step("PROPFIND /team/d/x", [], askProperty("p"), 207, holds: [">v<"]),
                step("PUT /team/d/x", [], "2", 204),
                // Between two mounted folders, over an existing resource.
                step("PUT /a/b/x", [], "old", 201),
                step("PROPPATCH /a/b/x", [], setProperty("p", "old"), 207),
                step("MOVE /team/d/x", [("Destination", "/a/b/x"), ("Overwrite", "F")], nil, 412),
                step("MOVE /team/d/x", [("Destination", "/a/b/x")], nil, 204),
                step("GET /a/b/x", [], nil, 200, holds: ["2"]),
                step("PROPFIND /a/b/x", [], askProperty("p"), 207, holds: [">v<"], lacks: [">old<"]),
                step("GET /team/d/x", [], nil, 404),
            ]),
        Scenario(
            "RFC 4918 §9.8: COPY between folders keeps properties",
            [
                step("MKCOL /team/d", [], nil, 201), step("PUT /team/d/x", [], "1", 201),
                step("PROPPATCH /team/d/x", [], setProperty("p", "v"), 207),
                step("COPY /team/d", [("Destination", "/d")], nil, 201),
                step("GET /d/x", [], nil, 200, holds: ["1"]),
                step("PROPFIND /d/x", [], askProperty("p"), 207, holds: [">v<"]),
                step("PUT /d/x", [], "2", 204), step("GET /team/d/x", [], nil, 200, holds: ["1"]),
                step("COPY /team/d", [("Destination", "/d")], nil, 204),
                step("GET /d/x", [], nil, 200, holds: ["1"]),
            ]),
        Scenario(
            "RFC 4918 §7.4: a lock with infinite depth protects mounted folders below it",
            [
                step("PUT /team/x", [], "1", 201), lock("/"),
                step("PUT /team/x", [], "2", 423), step("PUT /team/new", [], "2", 423),
                step("PUT /a/b/new", [], "2", 423),
                step("PUT /team/x", [("If", "(<$1>)")], "2", 204),
                step("PROPFIND /team/x", [], MountedShareTests.propertiesOfAll, 207, holds: ["activelock"]),
            ]),
        Scenario(
            "RFC 4918 §10.4: conditions can refer to resources of other folders",
            [
                step("PUT /x", [], "1", 201), lock("/x", depth: "0"), step("PUT /team/x", [], "1", 201),
                step("PUT /team/x", [("If", "</x> (<$1>)")], "2", 204),
                step("PUT /team/x", [("If", "</x> (Not <$1>)")], "3", 412),
                step("PUT /x", [("If", "</team/x> ([$e]) </x> (<$1>)")], "2", 204),
            ]),
        Scenario(
            "links are followed to mounted folders, but not out of them",
            [
                shell("ln -s a/b link; ln -s a/b/hidden file"), step("PUT /a/b/hidden", [], "new", 201),
                step("GET /link/hidden", [], nil, 200, holds: ["new"]),
                step("GET /file", [], nil, 200, holds: ["new"]),
                step("PUT /link/other", [], "2", 201), step("GET /a/b/other", [], nil, 200, holds: ["2"]),
                step(
                    "PROPFIND /", [("Depth", "1")],
                    "<propfind xmlns=\"DAV:\"><prop><getcontentlength/></prop></propfind>",
                    207, holds: ["<D:href>/file</D:href>", ">3<"]),
                step("DELETE /link", [], nil, 204), step("GET /a/b/other", [], nil, 200),
                // A copy contains neither what the mounted folder hides nor, through a link, the folder itself.
                shell("mkdir d; ln -s ../a/b d/l; ln -s ../a/b/hidden d/f; ln -s ../a d/up; echo 1 >d/x"),
                step("COPY /d", [("Destination", "/copy")], nil, 201),
                step("COPY /d", [("Destination", "/team/copy")], nil, 201),
                shell("[ $(ls copy) = x ]"), step("GET /team/copy/l/hidden", [], nil, 404),
                step("GET /team/copy/f", [], nil, 404), step("GET /team/copy/up/", [], nil, 404),
                step("GET /team/copy/x", [], nil, 200, holds: ["1"]),
            ]),
        Scenario(
            "partial updates",
            [
                step("PUT /team/x", [], "0123456789", 201),
                step("PUT /team/x", [("Content-Range", "bytes 2-3/*")], "ab", 204),
                step(
                    "PATCH /team/x",
                    [("Content-Type", "application/x-sabredav-partialupdate"), ("X-Update-Range", "append")],
                    "cd", 204),
                step("GET /team/x", [], nil, 200, holds: ["01ab456789cd"]),
            ]),
        Scenario(
            "names are compared in every Unicode spelling",
            [
                step("MKCOL /team/%C3%A9", [], nil, 201), step("PUT /team/e%CC%81/x", [], "1", 201),
                step("MOVE /team/%C3%A9/x", [("Destination", "/e%CC%81")], nil, 201),
                step("GET /%C3%A9", [], nil, 200, holds: ["1"]),
            ]),
    ]

    @Test(arguments: scenarios, parents)
    func mountedFoldersArePartOfTheTree(_ scenario: Scenario, in parent: String) async throws {
        try await Tree(teamIn: parent).share.play(scenario)
    }

    @Test(arguments: parents)
    func everyFolderHasItsOwnTrash(in parent: String) async throws {
        let tree = try Tree(teamIn: parent) { $0.trash = TrashLimits() }
        try await tree.share.play(
            Scenario(
                "before",
                [
                    step("PUT /team/x", [], "1", 201),
                    step("PROPPATCH /team/x", [], setProperty("p", "v"), 207),
                    step("DELETE /team/x", [], nil, 204), step("GET /team/x", [], nil, 404),
                ]))
        #expect(try tree.share.trash() == ["deleted /team/x 1"])
        #expect(
            ShellCommand.run("[ $(ls -A '\(tree.team.path)/.davit-trashofthisshare' | wc -l) = 1 ]")?.status
                == 0)
        #expect(ShellCommand.run("[ ! -e '\(tree.root.path)/.davit-trashofthisshare' ]")?.status == 0)
        #expect(try await tree.share.restore(tree.share.lastTrash).status == 201)
        try await tree.share.play(
            Scenario(
                "after",
                [
                    step("GET /team/x", [], nil, 200, holds: ["1"]),
                    step("PROPFIND /team/x", [], askProperty("p"), 207, holds: [">v<"]),
                    // A MOVE from another folder replaces the resource, which the trash keeps.
                    step("PUT /y", [], "2", 201),
                    step("MOVE /y", [("Destination", "/team/x")], nil, 204),
                ]))
        #expect(try tree.share.trash() == ["overwritten /team/x 1"])
        #expect(try await tree.share.shown("/team/x") == "2")
    }

    /// Metadata files of mounted folders are stored with those of the share.
    @Test(arguments: parents)
    func metadataFilesMoveWithTheirFolders(in parent: String) async throws {
        let tree = try Tree(teamIn: parent) { $0.rules.macMetadata = .aside }
        try await tree.share.play(
            Scenario(
                "metadata",
                [
                    step("MKCOL /team/d", [], nil, 201), step("PUT /team/d/x", [], "1", 201),
                    step("PUT /team/d/._x", [], "meta", 201),
                    step("MOVE /team/d", [("Destination", "/team/e")], nil, 201),
                    step("GET /team/e/._x", [], nil, 200, holds: ["meta"]),
                    step("COPY /team/e", [("Destination", "/d")], nil, 201),
                    step("GET /d/._x", [], nil, 200, holds: ["meta"]),
                ]))
        #expect(ShellCommand.run("! find '\(tree.team.path)' -name '._x' | grep .")?.status == 0)
    }

    /// The journal also covers mounted folders.
    @Test(arguments: parents)
    func synchronizationIncludesMountedFolders(in parent: String) async throws {
        var options = ShareJournal.Options()
        options.walksInBackground = false
        let tree = try Tree(teamIn: parent, journal: options)
        var client = SyncClient(tree.share.client)
        try await client.syncAll()
        _ = try await tree.share.client.send("PUT", "/team/x", text: "1")
        #expect(ShellCommand.run("echo 2 >'\(tree.below.path)/y'")?.status == 0)
        try await client.syncAll()
        #expect(client.told.sorted() == ["+/a/b/y", "+/team/x"])
        _ = try await tree.share.client.send("MOVE", "/team/x", [("Destination", "/a/b/z")])
        try await client.syncAll()
        #expect(client.told.sorted() == ["+/a/b/z", "-/team/x"])
        var team = SyncClient(tree.share.client, "/a/b/")
        try await team.syncAll()
        #expect(team.copy.keys.sorted() == ["/a/b/y", "/a/b/z"])
    }

    /// Clients open the root first, and have to find a mounted folder there although they have no rights to the root
    /// (sftpgo#440, sftpgo#575).
    @Test func accountSeesOnlyTheMountedFoldersOfItsRules() async throws {
        let rules = try AccessRules([
            AccessRule(.user("ben"), Self.path("team"), .edit),
            AccessRule(.user("anna"), .root, .edit),
            AccessRule(.user("anna"), Self.path("a/b"), .view),
        ])
        let tree = try Tree(teamIn: "/dev/shm") { $0.access = rules }
        try await tree.share.play(
            Scenario(
                "rights",
                [
                    step("PUT /x", [], "1", 201, as: "anna"), step("PUT /team/x", [], "1", 201, as: "ben"),
                    step(
                        "PROPFIND /", [("Depth", "infinity")], nil, 207,
                        holds: ["<D:href>/team/x</D:href>"],
                        lacks: ["<D:href>/x</D:href>", "<D:href>/a/</D:href>"], as: "ben"),
                    step("PROPFIND /a/b/", [], nil, 404, as: "ben"),
                    // Both ends of a MOVE need their rights.
                    step("MOVE /team/x", [("Destination", "/y")], nil, 403, as: "ben"),
                    step("MOVE /x", [("Destination", "/team/y")], nil, 404, as: "ben"),
                    step("MOVE /x", [("Destination", "/a/b/x")], nil, 403, as: "anna"),
                    step("MOVE /x", [("Destination", "/team/y")], nil, 201, as: "anna"),
                    step("GET /team/y", [], nil, 200, as: "ben"),
                    step("DELETE /team", [], nil, 403, as: "ben"),
                ]))
    }

    /// A move by copying neither reads what links lead to without the right to read it, nor loses the links.
    @Test func movesByCopyingDoNotReadThroughLinks() async throws {
        let rules = try AccessRules([
            AccessRule(.user("ben"), Self.path("team"), .edit),
            AccessRule(.user("ben"), Self.path("open"), .edit),
            AccessRule(.user("ben"), Self.path("seen"), .list),
        ])
        let tree = try Tree(teamIn: "/dev/shm") { $0.access = rules }
        try await tree.share.play(
            Scenario(
                "links",
                [
                    shell(
                        """
                        mkdir -p open/d open/e seen secret && echo s >secret/f && echo n >seen/f && \
                        echo x >open/d/x && echo y >open/y && ln -s ../../secret/f open/d/l && \
                        ln -s ../seen/f open/l && ln -s ../y open/e/l
                        """),
                    step(
                        "MOVE /open/d", [("Destination", "/team/d")], nil, 207, holds: ["/open/d/l"],
                        as: "ben"),
                    shell("[ -L open/d/l ] && [ -f open/d/x ]"),
                    step("GET /team/d/x", [], nil, 404, as: "ben"),
                    // The link itself: its target may be listed, but not read.
                    step("MOVE /open/l", [("Destination", "/team/l")], nil, 403, as: "ben"),
                    shell("[ -L open/l ]"), step("GET /team/l", [], nil, 404, as: "ben"),
                    step("MOVE /open/e", [("Destination", "/team/e")], nil, 201, as: "ben"),
                    step("GET /team/e/l", [], nil, 200, holds: ["y"], as: "ben"),
                ]))
    }
}
