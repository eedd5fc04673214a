/// The help of `davit setup`.
extension Help {
    static let setupText = """
        usage: davit setup [FOLDER] [OPTION...]

        Asks which FOLDER to share, who may reach it, under which name, for which
        account, and whether to start the server with the machine. Then writes the
        configuration file and, for systemd, the settings of its service, creates the
        account, and prints how to connect. Reads the answers from standard input, one
        line each, and uses the default for an empty line and at the end of the input.
        Never replaces a file without asking.

        Asks for the password on a terminal. Otherwise, and if none is entered, prints a
        link with which the user chooses it in the browser, once within 24 hours.

          --reach WHO            machine (this machine only), network (with TLS and an
                                 authority of the server's own) or internet (through a
                                 proxy on this machine that has a certificate)
          --name HOST            name or address that clients use
          --account NAME         name of the first account, which has all rights
          --boot yes|no          whether systemd starts the server with the machine;
                                 requires root and the units of the package
          --port PORT            port to listen on (default: 8443 for network, otherwise
                                 8080)
          --config FILE          configuration file to write (default: a file in
                                 /etc/davit or ~/.config/davit)
          --state-dir FOLDER     state folder, as for 'davit serve' (default with
                                 --boot yes or --root: a folder in /var/lib/davit)
          --root FOLDER          write below FOLDER instead of /, for system images;
                                 other paths are those in the image
          --yes                  use the defaults for everything else
          --force                replace existing files
          --help                 show this help

        Exit status: 0 if everything was written, otherwise 1.

        """
}
