import DavitEngine
import DavitTesting
import Testing

/// Mounted folders cannot be left: neither by links nor by names, even if other programs change the folders meanwhile.
struct MountSecurityTests {
    @Test(arguments: MountTests.parents)
    func linksDoNotLeadOutOfAMountedFolder(in parent: String) async throws {
        let tree = try MountTests.Tree(teamIn: parent)
        let (root, team, below) = (tree.root.path, tree.team.path, tree.below.path)
        let commands = """
            cd '\(team)' && echo secret >'\(root)/s' && echo secret >'\(below)/s' && mkdir in && echo in >in/x && \
            ln -s '\(root)' l0 && ln -s '\(root)/s' l1 && ln -s '\(below)' l2 && ln -s / l3 && ln -s .. l4 && \
            ln -s "../$(basename '\(root)')/s" l5 && ln -s '\(team)/in' l6 && ln -s "../$(basename '\(team)')/in" l7
            """
        #expect(ShellCommand.run(commands)?.status == 0)
        let outside = [
            "l0/s", "l1", "l2/s", "l3\(root)/s", "l4/\(root.split(separator: "/").last ?? "")/s", "l5",
        ]
        try await tree.share.play(
            Scenario(
                "links out of a mounted folder",
                outside.flatMap {
                    [
                        step("GET /team/\($0)", [], nil, 404),
                        step("COPY /team/\($0)", [("Destination", "/out")], nil, 404),
                    ]
                } + [
                    // Replaces the link.
                    step("PUT /team/l0/new", [], "1", 409),
                    step(
                        "PROPFIND /team/", [("Depth", "infinity")], nil, 207, lacks: ["/l0/", "/l3/", "/s<"]),
                    // Links within the folder, also by its path in the file system.
                    step("GET /team/l6/x", [], nil, 200, holds: ["in"]),
                    step("GET /team/l7/x", [], nil, 200, holds: ["in"]),
                    shell("[ ! -e new ] && [ $(cat s) = secret ]"),
                ]))
    }

    /// The mounted folder is opened once: what is put in its place later, or in that of the mount point, has no effect.
    @Test(arguments: MountTests.parents)
    func mountPointCanBeReplacedWhileTheServerRuns(in parent: String) async throws {
        let tree = try MountTests.Tree(teamIn: parent)
        let elsewhere = try TemporaryFolder()
        #expect(ShellCommand.run("echo secret >'\(elsewhere.path)/s'")?.status == 0)
        try await tree.share.play(
            Scenario(
                "a link at the mount point, and at the folder above another one",
                [
                    step("PUT /team/x", [], "1", 201), step("PUT /a/b/x", [], "2", 201),
                    shell("ln -s '\(elsewhere.path)' team && mv a old && ln -s '\(elsewhere.path)' a"),
                    step("GET /team/s", [], nil, 404), step("GET /team/x", [], nil, 200, holds: ["1"]),
                    step("GET /a/s", [], nil, 404), step("GET /a/b/x", [], nil, 200, holds: ["2"]),
                    step("DELETE /team", [], nil, 403), step("DELETE /a", [], nil, 404),
                    shell("rm a && ln -s old a"), step("DELETE /a", [], nil, 403),
                    step("GET /a/b/x", [], nil, 200, holds: ["2"]),
                    step("PUT /team/y", [], "3", 201),
                ]))
        #expect(
            ShellCommand.run(
                """
                mv '\(tree.team.path)' '\(tree.team.path)-moved' && ln -s '\(elsewhere.path)' '\(tree.team.path)'
                """)?.status == 0)
        try await tree.share.play(
            Scenario(
                "a link in place of the mounted folder",
                [
                    step("GET /team/s", [], nil, 404), step("GET /team/y", [], nil, 200, holds: ["3"]),
                    step("PUT /team/z", [], "4", 201),
                ]))
        #expect(
            ShellCommand.run(
                """
                rm '\(tree.team.path)' && mv '\(tree.team.path)-moved' '\(tree.team.path)' && \
                [ ! -e '\(elsewhere.path)/z' ] && [ -f '\(tree.team.path)/z' ]
                """)?.status == 0)
    }

    @Test(arguments: MountTests.parents)
    func namesOfTheServerAndDotSegmentsAreRefusedInMountedFolders(in parent: String) async throws {
        let tree = try MountTests.Tree(teamIn: parent) { $0.trash = TrashLimits() }
        let trash = "/team/.davit-trashofthisshare"
        try await tree.share.play(
            Scenario(
                "paths",
                [
                    step("PUT /team/x", [], "1", 201), step("DELETE /team/x", [], nil, 204),
                    step("PROPFIND \(trash)/", [], nil, 403), step("PUT \(trash)/y", [], "1", 403),
                    step("DELETE \(trash)", [], nil, 403), step("PUT /team/y", [], "1", 201),
                    step("MOVE /team/y", [("Destination", "\(trash)/y")], nil, 403),
                    step("GET /team/../s", [], nil, 400), step("GET /team/%2E%2E/s", [], nil, 400),
                    step("GET /team/..%2Fs", [], nil, 400),
                    step("MOVE /team/y", [("Destination", "/team/../y")], nil, 400),
                    step("COPY /team/y", [("Destination", "/team/%2e%2e/y")], nil, 400),
                    step("MOVE /team/y", [("Destination", "/team/")], nil, 403),
                    step("COPY /team/y", [("Destination", "/a/b/")], nil, 403),
                    step("GET /team/y", [], nil, 200),
                ]))
        #expect(try tree.share.trash() == ["deleted /team/x 1"])
    }
}
