// What the user may do. The server describes the rights to a resource by a number (docs/browser.md); it is undefined on servers
// where all users have the same rights.

import { page } from "./page.js"

/// Whether users have different rights.
export const hasRights = page.rights !== null && page.rights !== undefined

const list = 1
const create = 4
/// Set for folders that cannot be renamed, moved or deleted.
const fixed = 128
/// Set for folders that cannot be copied, because another one is mounted in them.
const uncopyable = 256
const flags = fixed | uncopyable
// The rights that actions need, and the flags that must not be set.
const needed = {
    read: 2, create, change: 8, manage: 64, copy: 2 | uncopyable, rename: 8 | fixed, remove: 16 | fixed, move: 16 | 2 | fixed,
}

/// Whether the user may perform an action on all of `items`, each an entry or the folder: "read", "create" members, "change"
/// content, "copy", "rename", "remove", "move" to another folder, or "manage" rights.
export const may = (action, ...items) =>
    items.every(({ rights }) => rights === undefined || ((rights ^ flags) & needed[action]) === needed[action])

/// Whether the user can add files to a folder, but cannot see its members.
export const isDropBox = ({ rights }) => rights !== undefined && (rights & (list | create)) === create

/// Whether an archive of the folder contains anything: without rights, only what leads to permitted folders is visible.
export const mayDownloadAll = (folder) => may("read", folder) || (folder.rights & ~flags) === 0

/// Returns the rights that members of a folder have unless the server specifies other ones.
export const inherited = (rights) => (rights === undefined ? undefined : rights & ~flags)
