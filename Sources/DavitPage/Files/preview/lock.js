// The lock of an editor: taken when it opens, renewed while it is open, given back when it closes.

import { lock, propfind, unlock } from "../dav.js"
import { page } from "../page.js"
import { t } from "../strings.js"

/// Short, so that a browser that has gone does not keep others waiting.
const seconds = 180

export class EditLock {
    #timer

    constructor(href) {
        this.href = href
        this.token = ""
        /// Whether somebody else has locked it, and who that is.
        this.isForeign = false
        this.holder = ""
        this.onLost = () => {}
    }

    /// Fulfilled with whether the file is locked for this page. Without locks it goes on without: what is written is compared anyway.
    async take() {
        if (this.token || !page.canWrite) return this.token !== ""
        try {
            this.token = await lock(this.href, { owner: page.user || t("preview.lockOwner"), timeout: seconds })
            this.isForeign = false
            this.#timer = setInterval(() => this.renew(), seconds * 1000 / 3)
            return true
        } catch (error) {
            if (error.status !== 423) return false
            this.isForeign = true
            await this.findHolder()
            return false
        }
    }

    async findHolder() {
        try {
            const [held] = (await propfind(this.href, { depth: 0 })).entries[0].locks
            this.holder = held?.principal || held?.owner || ""
        } catch { /* Nobody knows, then. */ }
    }

    async renew() {
        try {
            await lock(this.href, { token: this.token, timeout: seconds })
        } catch (error) {
            // Without a connection it is tried again.
            if (error.status === 0 || error.status >= 500) return
            this.forget()
            if (!await this.take()) this.onLost()
        }
    }

    forget() {
        clearInterval(this.#timer)
        this.token = ""
    }

    /// `isLeaving`: the page goes, and waits for nothing.
    end(isLeaving = false) {
        const { token, href } = this
        this.forget()
        if (!token) return
        if (isLeaving) fetch(href, { method: "UNLOCK", headers: { "Lock-Token": `<${token}>` }, keepalive: true }).catch(() => {})
        else unlock(href, token).catch(() => {})
    }
}
