import DavitEngine
import DavitTesting
import Testing

/// Moves between mounted folders on different volumes, which copy.
struct MountMoveTests {
    /// A rename would keep links, and what is never served. A copy cannot, so nothing is moved if it would lose something.
    @Test func moveByCopyingLosesNothing() async throws {
        let tree = try MountTests.Tree(teamIn: "/dev/shm")
        let losses = [
            "ln -s nowhere d/m", "ln -s /etc/passwd d/m", "ln -s ../a/b d/m", "ln -s ../a/b/hidden d/m",
            "ln -s . d/m", "mkfifo d/m", "mkdir d/e && ln -s m d/e/m",
        ]
        for command in losses {
            let member = command.contains("d/e/m") ? "/d/e/m" : "/d/m"
            try await tree.share.play(
                Scenario(
                    command,
                    [
                        shell("mkdir d && echo 1 >d/x && \(command)"),
                        step(
                            "MOVE /d", [("Destination", "/team/d")], nil, 207,
                            holds: ["<D:href>\(member)</D:href>", " 403 "]),
                        step("GET /team/d/", [], nil, 404), step("GET /d/x", [], nil, 200),
                        // COPY leaves them out, because its source remains.
                        step("COPY /d", [("Destination", "/team/copy")], nil, 201),
                        step("DELETE /team/copy", [], nil, 204),
                        shell("[ -L d/m -o -p d/m -o -L d/e/m ] && rm -r d"),
                    ]))
        }
        #expect(ShellCommand.run("[ -z \"$(ls -A '\(tree.team.path)')\" ]")?.status == 0)
    }

    @Test func moveByCopyingKeepsMetadata() async throws {
        let tree = try MountTests.Tree(teamIn: "/dev/shm")
        try await tree.share.play(
            Scenario(
                "metadata",
                [
                    shell(
                        """
                        mkdir -p d/empty && echo 1 >d/x && chmod 750 d/empty && chmod 604 d/x && \
                        truncate -s 8M d/sparse && touch -d '2001-02-03 04:05:06.7Z' d/x d/sparse d/empty && \
                        touch -d '2002-02-03 04:05:06Z' d && echo 2 >file && touch -d '2003-02-03 04:05:06Z' file
                        """),
                    step("MOVE /d", [("Destination", "/team/d")], nil, 201),
                    step("MOVE /file", [("Destination", "/team/file")], nil, 201),
                    step(
                        "PROPFIND /team/file", [("Depth", "0")], nil, 207,
                        holds: ["Mon, 03 Feb 2003 04:05:06 GMT"]),
                    shell("[ ! -e d ] && [ ! -e file ]"),
                ]))
        let check = """
            cd '\(tree.team.path)' && [ "$(stat -c '%a %Y' d/x)" = '604 981173106' ] && \
            [ "$(stat -c '%a %Y' d/empty)" = '750 981173106' ] && [ "$(stat -c %Y d)" = 1012709106 ] && \
            [ "$(stat -c '%s %Y' d/sparse)" = '8388608 981173106' ] && [ $(stat -c %b d/sparse) -lt 100 ]
            """
        #expect(ShellCommand.run(check)?.status == 0)
    }
}
