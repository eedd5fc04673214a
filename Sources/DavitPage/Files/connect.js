// Instructions for connecting other programs to the share; those for the user's own system come first. See docs/clients.md.

import { copyText } from "./clipboard.js"
import { dialog } from "./dialog.js"
import { element, icon, iconButton, styleSheet } from "./element.js"
import { has, page } from "./page.js"
import { t } from "./strings.js"

const address = new URL(page.root, location.href)
const isSecure = address.protocol === "https:"
const host = address.hostname.replace(/^\[|\]$/g, "")
const port = address.port
const user = page.user ?? ""
const url = address.href
// Other devices cannot reach a loopback address.
const isLoopback = host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host) || /(^|\.)localhost$/.test(host)

/// Returns the UNC path that Windows uses for WebDAV: \\host@SSL@8443\DavWWWRoot\folder
const windowsPath = () => {
    const server = host.includes(":") ? `${host.replaceAll(":", "-")}.ipv6-literal.net` : host
    const path = decodeURI(page.root).replace(/\/$/, "").replaceAll("/", "\\")
    return `\\\\${server}${isSecure ? "@SSL" : ""}${port ? `@${port}` : ""}\\DavWWWRoot${path}`
}
const withUser = (scheme) => `${scheme}${isSecure ? "s" : ""}://${user ? `${encodeURIComponent(user)}@` : ""}${address.host}${page.root}`

const systems = {
    mac: {
        name: "Mac",
        steps: () => [t("connect.mac"), code(url), t("connect.macTerminal"), code(`mkdir ~/files && mount_webdav -i ${url} ~/files`)],
    },
    windows: {
        name: "Windows",
        steps: () => [
            t("connect.windows"), code(url), t("connect.windowsTerminal"), code(`net use Z: ${windowsPath()} *${user ? ` /user:${user}` : ""}`),
            !isSecure && note(t("connect.windowsBasic")),
            note(t("connect.windowsLimit")),
            code("reg add HKLM\\SYSTEM\\CurrentControlSet\\Services\\WebClient\\Parameters /v FileSizeLimitInBytes /t REG_DWORD /d 4294967295 /f"),
            code("net stop webclient & net start webclient"),
        ],
    },
    ios: { name: "iPhone, iPad", steps: () => [t("connect.ios"), code(url), !isSecure && note(t("connect.certificate"))] },
    android: { name: "Android", steps: () => [t("connect.android"), code(url), !isSecure && note(t("connect.certificate"))] },
    linux: {
        name: "Linux",
        steps: () => [
            t("connect.gnome"), code(withUser("dav")), t("connect.kde"), code(withUser("webdav")),
            t("connect.davfs"), code(`sudo mount -t davfs -o uid=$USER ${url} /mnt`),
        ],
    },
    rclone: {
        name: "rclone",
        steps: (password = "PASSWORD") => [
            t("connect.rclone"), code(`rclone config create files webdav url=${url} vendor=owncloud${user ? ` user=${user} pass=${password}` : ""}`),
            code("rclone copy FOLDER files:FOLDER"), code("rclone mount files: /mnt --vfs-cache-mode writes"),
        ],
    },
}

const note = (text) => element("p.connect-note", {}, icon("info"), text)
const code = (text) =>
    element("div.connect-code", {}, element("code", {}, text), iconButton("copy", t("connect.copy", { text }), () => copyText(text)))

const own = () => {
    const agent = navigator.userAgent
    if (/iPhone|iPad/.test(agent) || (/Macintosh/.test(agent) && navigator.maxTouchPoints > 1)) return "ios"
    if (/Android/.test(agent)) return "android"
    if (/Windows/.test(agent)) return "windows"
    return /Macintosh/.test(agent) ? "mac" : "linux"
}

/// Shows a new app password. Its texts have been loaded with the views for accounts.
const passwordShown = (name, password, image) =>
    element("div.connect-address", {},
        element("div", {}, element("p", {}, t("people.password.for", { name })), code(password)),
        image && element("figure", {}, element("img", {
            src: `data:image/svg+xml,${encodeURIComponent(image)}`, alt: t("people.password.qr"), width: "168", height: "168",
        }), element("figcaption", {}, t("people.password.qr"))))

/// Shows how other devices can trust the server's own authority. Their browsers cannot open a page over TLS before that.
const trustShown = ({ fingerprint }) => {
    const link = `http://${address.hostname}:${port || 443}/.davit-trust`
    return element("div.connect-address", {},
        element("div", {}, element("p", {}, t("connect.trust")), code(link), element("p", {}, t("connect.fingerprint")),
            element("code.connect-fingerprint", {}, fingerprint)),
        has("qr") && !isLoopback && element("figure", {}, element("img", { src: "/.davit-trust/qr.svg", alt: t("connect.trustQR"), width: "168", height: "168" }),
            element("figcaption", {}, t("connect.trustQR"))))
}

/// Returns the server's own authority; null without one.
const authority = async () => {
    if (!has("authority")) return null
    const answer = await fetch("/.davit-trust/authority.json").catch(() => null)
    return answer?.ok ? answer.json() : null
}

/// Shows the instructions. `password` is a new app password for the program `label`, and `code` an SVG image of its QR code.
export const showConnect = async ({ label, password, code: image } = {}) => {
    const [trust] = await Promise.all([authority(), styleSheet("connect.css")])
    const mine = own()
    const order = [mine, ...Object.keys(systems).filter((name) => name !== mine)]
    return dialog({
        title: t("connect.title"), className: "connecting",
        body: element("div", {},
            password && passwordShown(label, password, image),
            element("div.connect-address", {},
                element("div", {}, element("p", {}, t("connect.intro")), code(url), user && element("p", {}, t("connect.user", { user })),
                    isLoopback && note(t("connect.loopback"))),
                has("qr") && !isLoopback && element("figure", {}, element("img", { src: `${page.root}?qr`, alt: t("connect.qr"), width: "168", height: "168" }),
                    element("figcaption", {}, t("connect.qr")))),
            trust && trustShown(trust),
            order.map((name) => element("details", { open: name === mine }, element("summary", {}, systems[name].name),
                systems[name].steps(password).filter(Boolean).map((step) => (typeof step === "string" ? element("p", {}, step) : step))))),
        actions: [{ label: t("core.close"), value: true, kind: "primary" }],
    })
}
