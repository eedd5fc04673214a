// Accounts and rights: registers the actions, and fills the account menu. The dialogs and views are imported on first use.

import { register } from "../actions.js"
import { attempt, later } from "../load.js"
import { has, page } from "../page.js"
import { may } from "../rights.js"
import { t } from "../strings.js"

const access = later(() => import("./access.js"))
const passwords = later(() => import("./passwords.js"))
const admin = later(() => import("./admin.js"))

const target = ({ folder, entries }) => entries[0] ?? folder

export const start = (app) => {
    register({
        id: "who-may", label: "core.whoMay", icon: "user", group: "other", order: 30, scope: "both", isBar: false,
        enabled: (context) => context.entries.length <= 1 && context.folder.query === "" && target(context).isFolder !== false
            && may("manage", target(context)),
        run: async (context) => (await access()).showAccess(app, target(context).href),
    })
    app.accountItems.push({
        label: t("core.appPasswords"), icon: "connect", run: () => attempt(async () => (await passwords()).showPasswords(app)),
    })
    if (has("account")) {
        app.accountItems.push({ label: t("core.account"), icon: "user", run: () => location.assign(`${page.root}?account`) })
    }
    if (!page.isAdministrator) return
    app.accountItems.push({ label: t("core.accounts"), icon: "settings", run: () => showAdmin("accounts") })

    const showAdmin = async (section) => {
        if (app.folder.href !== page.root) await app.navigate(page.root)
        app.go(`?admin=${section}`)
    }
    const route = () => attempt(async () => {
        const requested = () => app.folder.href === page.root && new URL(location.href).searchParams.get("admin")
        if (requested()) {
            const { showSection } = await admin()
            if (requested()) await showSection(app, requested())
        } else if (document.querySelector(".admin")) {
            app.showView(undefined)
        }
    })
    app.addEventListener("route", route)
    route()
}
