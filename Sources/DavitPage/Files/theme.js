// The first script. A theme that was chosen is there before anything is painted, and what is to be shown is asked for, while the
// other scripts still come.

import("./folder.js").then(({ prefetchOwn }) => prefetchOwn())
import("./strings.js")
try {
    const chosen = localStorage.getItem("davit.theme")
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen
} catch { /* Nothing is kept here. */ }
