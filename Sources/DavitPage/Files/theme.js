// The first script. It applies the chosen theme before the first paint, and starts to read the folder while the other scripts
// load.

import("./folder.js").then(({ prefetchOwn }) => prefetchOwn())
import("./strings.js")
try {
    const chosen = localStorage.getItem("davit.theme")
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen
} catch { /* The browser stores nothing. */ }
