/// The help of `davit doctor`.
extension Help {
    static let doctorText = """
        usage: davit doctor FOLDER [OPTION...]
               davit doctor --config FILE [OPTION...]

        Examines everything that the server of FOLDER needs, and prints what to do about
        problems: the configuration, addresses and ports, names, the clock, limits of
        the system, permissions of folders, features and free space of volumes, stored
        state, the running server, certificates and proxies. Changes nothing; to learn
        what the volume of a folder can do, it creates two empty files that clients
        cannot see, and removes them.

        Takes the options of 'davit serve', so that it checks what that would do. Run it
        as the user of the server, or as root with --run-as.

          --url URL              also send requests to the URL that clients use, and check
                                 what a proxy on the way does with them
          --sign-in NAME:PASSWORD
                                 for --url: account to sign in with. Other users of this
                                 machine can see the password in the process list
          --ca FILE              for --url: trusted certificate authorities, in PEM
                                 (default: those of the system and of --tls-self-signed)
          --json                 print JSON for programs
          --help                 show this help

        Exit status: 0 if there is no problem, otherwise 1. Warnings do not count.

        """
}
