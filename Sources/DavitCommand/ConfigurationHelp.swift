/// The help of the commands for configuration files.
extension Help {
    static let configText = """
        usage: davit config check FILE [OPTION...]
               davit config show FILE [OPTION...]
               davit config defaults
               davit config schema

        Works with configuration files for 'davit serve --config FILE'. They contain
        the options in YAML, without the dashes, and in addition several shares,
        accounts and rules.

          check FILE             list all mistakes in FILE; without any, verify what
                                 can be verified without a start: folders,
                                 certificates, programs, and files with accounts and
                                 passwords can be read, and accounts exist if other
                                 machines can reach the server. Run it as the user of
                                 the server
          show FILE              print the settings that 'davit serve --config FILE'
                                 would use, and where each comes from; passwords are
                                 masked
          defaults               print a file with all settings and their defaults
          schema                 print a JSON Schema of the file, for editors
          --help                 show this help

        OPTIONs are those that 'davit serve' is started with in addition to --config.

        Environment variables set options too, such as DAVIT_LOG_LEVEL for --log-level,
        and DAVIT_FOLDER sets FOLDER. The command line takes precedence over the
        environment, the environment over the file, and the file over the defaults; an
        option with several values is replaced as a whole.

        Exit status: 0 if the file can be used, otherwise 1.

        """

    static let reloadText = """
        usage: davit reload FOLDER [--state-dir FOLDER]
               davit reload --config FILE

        Makes the server that shares FOLDER, or that uses the configuration FILE, read
        its configuration file, its user file and its certificates again, and reopen its
        access log, as on SIGHUP. Prints the settings that have changed, and those that
        take effect when the server is restarted. If a file has a mistake, the server
        keeps all of its settings. Run the command as the server's user or as root.

          --config FILE          the configuration file of the server
          --state-dir FOLDER     state folder, as for 'davit serve'
          --help                 show this help

        Exit status: 0 if the settings were read, otherwise 1.

        """
}
