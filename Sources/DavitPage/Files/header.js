// The page header with the title, the user and the settings, and the breadcrumbs.

import { propfind } from "./dav.js"
import { element, icon, iconButton } from "./element.js"
import { prefetch } from "./folder.js"
import { isWithin, nameOf, visible } from "./href.js"
import { openMenu } from "./menu.js"
import { chosenLanguage, has, languages, page } from "./page.js"
import { hasRights, may } from "./rights.js"
import { applyTheme, theme, themes, writeSetting } from "./settings.js"
import { t } from "./strings.js"

export const header = (app) => {
    const settings = iconButton("settings", t("core.settings"), () => openMenu([
        ...themes.map((name) => ({
            label: t(`core.theme.${name}`), isChecked: theme() === name,
            run: () => {
                writeSetting("theme", name)
                applyTheme(name)
            },
        })),
        "line",
        { label: t("core.languageOfBrowser"), isChecked: chosenLanguage() === "", run: () => choose("") },
        ...Object.entries(languages).map(([tag, name]) => ({ label: name, isChecked: chosenLanguage() === tag, run: () => choose(tag) })),
    ], settings, { label: t("core.settings") }), "settings")
    settings.setAttribute("aria-haspopup", "menu")
    const choose = (tag) => {
        writeSetting("language", tag)
        const address = new URL(location.href)
        address.searchParams.delete("lang")
        history.replaceState(history.state, "", address)
        location.reload()
    }
    return element("header.page-header", {},
        element("a.brand", {
            href: page.root,
            onclick: (event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return
                event.preventDefault()
                app.navigate(page.root)
            },
        }, icon("brand"), element("span", {}, page.title ?? t("core.files"))),
        page.user ? account(app)
            : has("account") && link("?account&sign-in", t("core.signIn.go"), icon("user"), element("span", {}, t("core.signIn.go"))),
        element("button.tool.connect", {
            type: "button", "aria-label": t("core.connect"), onclick: () => app.run("connect"),
        }, icon("connect"), element("span", {}, t("core.connect"))),
        settings,
        iconButton("help", t("core.help"), () => app.run("help")))
}

const link = (href, title, ...content) => element("a.user", { href, title }, ...content)

/// Creates the name of the account, with a menu if there are accounts in a database.
const account = (app) => {
    const content = [icon("user"), element("bdi", {}, page.user)]
    if (!page.hasAccounts) return has("account") ? link("?account", t("core.account"), content) : element("span.user", { title: t("core.user") }, content)
    const label = `${t("core.user")} ${page.user}`
    const button = element("button.tool.user", {
        type: "button", "aria-label": label, title: label, "aria-haspopup": "menu",
        onclick: () => openMenu([
            ...app.accountItems,
            { label: t("core.settings"), icon: "settings", run: () => document.querySelector(".page-header .settings").click() },
        ], button, { label }),
    }, content)
    return button
}

/// Makes a step of the breadcrumbs a drop target if the user may add files to its folder, like the rows of folders.
const acceptDrops = async (link, href) => {
    if (hasRights) {
        try {
            const { entries } = await propfind(href, { depth: 0 })
            if (!may("create", entries[0])) return
        } catch {
            return
        }
    }
    link.dataset.dropHref = href
}

/// Creates the breadcrumbs. Steps to folders to which the user may add files are drop targets.
export const breadcrumbs = (app) => {
    const list = element("ol")
    const nav = element("nav.trail", { "aria-label": t("core.breadcrumbs") }, list)
    const step = (href, isLast) => {
        const name = href === page.root ? page.title ?? t("core.files") : visible(nameOf(href))
        const link = element("a", {
            href, "aria-current": isLast ? "page" : null,
            onpointerdown: () => { if (!isLast) prefetch(href) },
            onclick: (event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
                event.preventDefault()
                if (!isLast) app.navigate(href, { focus: app.folder.href })
                else if (app.folder.query) app.folder.search("")
            },
        }, href === page.root && icon("home"), element("bdi", {}, name))
        if (page.canWrite) acceptDrops(link, href)
        return element("li", {}, link)
    }
    const update = (href) => {
        const hrefs = [page.root]
        if (isWithin(href, page.root)) {
            for (const part of href.slice(page.root.length).split("/").filter(Boolean)) hrefs.push(`${hrefs.at(-1)}${part}/`)
        }
        list.replaceChildren(...hrefs.map((one, index) => step(one, index === hrefs.length - 1)))
        // Keep the end visible if there is not enough space.
        list.scrollLeft = document.documentElement.dir === "rtl" ? -list.scrollWidth : list.scrollWidth
    }
    return { element: nav, update }
}
