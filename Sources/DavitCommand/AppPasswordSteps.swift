internal import DavitControl
internal import DavitHTTP

/// What to do with a new app password, as text for standard error.
enum AppPasswordSteps {
    static func text(_ new: NewAppPassword, _ password: String) -> String {
        let account = NameCheck.shown(Array(new.account.utf8))
        let path = new.path.map { "/" + NameCheck.shown($0.bytes) } ?? "/"
        return """

            This password is shown only once. Sign in as \(account) to the URL of the server, with the path \(path):
              Finder    Go > Connect to Server (Command-K), enter the URL
              Explorer  This PC > Map network drive, enter the URL; Windows requires https
              davfs2    echo 'URL \(account) \(password)' >> ~/.davfs2/secrets; mount -t davfs URL /mnt
              rclone    rclone config create davit webdav url=URL vendor=owncloud user=\(account) pass=\(password)
              iOS       in an app that supports WebDAV, add a server with the URL
            To revoke it, find its ID with 'davit app-password list', and use 'davit app-password revoke'.

            """
    }
}
