internal import DavitServer

extension Configuration {
    func checkedAccounts() throws(ServerError) -> Accounts {
        var checked = Accounts()
        for account in accounts {
            do throws(Accounts.Problem) {
                try checked.add(name: account.name, password: account.password)
            } catch {
                throw .accountNotUsable(name: account.name, error)
            }
        }
        return checked
    }
}
