/// The inline style of the page.
enum ListingStyle {
    /// The SHA-256 of ``text`` in Base64, for the content security policy.
    static let hash = "slOPyi6dWqlh1vRjH2myt+x83QmavwzHMLlTxSz0rE4="

    static let text: StaticString = """
        :root { color-scheme: light dark; --ink: #1c2126; --soft: #5c6670; --line: #e2e6ea; --link: #0b5cad;
          --page: #ffffff; --row: #f5f7f9; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa4ae; --line: #2c3238;
          --link: #7ab7f5; --page: #15191d; --row: #1d2227; } }
        * { box-sizing: border-box; }
        body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; background: var(--page);
          color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
        h1 { margin: 0.25rem 0 1.25rem; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
        a { color: var(--link); text-decoration: none; }
        a:hover { text-decoration: underline; }
        a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
        nav ol { display: flex; flex-wrap: wrap; margin: 0; padding: 0; list-style: none; font-size: 0.875rem;
          color: var(--soft); }
        nav li { overflow-wrap: anywhere; padding: 0.25rem 0; }
        nav li:not(:last-child)::after { content: "/"; margin: 0 0.5rem; color: var(--soft); }
        table { width: 100%; border-collapse: collapse; }
        th, td { padding: 0.5rem; border-bottom: 1px solid var(--line); font-weight: normal; text-align: left;
          vertical-align: top; }
        thead th { font-size: 0.8125rem; color: var(--soft); white-space: nowrap; }
        tbody tr:hover { background: var(--row); }
        .n { width: 100%; }
        tbody .n { overflow-wrap: anywhere; }
        .n bdi { white-space: pre-wrap; }
        .n a { display: flex; gap: 0.625rem; }
        .n a::before { flex: none; content: ""; }
        .n a.f::before { width: 0.5625rem; height: 0.6875rem; margin: 0.3125rem 0.0625rem 0;
          border: 1.5px solid var(--soft); border-radius: 1px 4px 1px 1px; }
        .n a.c { font-weight: 600; }
        .n a.c::before { width: 0.875rem; height: 0.75rem; margin-top: 0.375rem; background: var(--link);
          clip-path: polygon(0 0, 40% 0, 52% 18%, 100% 18%, 100% 100%, 0 100%); }
        .s { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; color: var(--soft); }
        .d { white-space: nowrap; font-variant-numeric: tabular-nums; color: var(--soft); }
        .g { text-align: right; }
        .e { color: var(--soft); padding: 1rem 0.5rem; }
        .h { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
          white-space: nowrap; }
        @media (max-width: 40rem) {
          thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
          tbody tr { display: grid; grid-template-columns: 1fr auto auto; column-gap: 0.75rem;
            padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
          tbody th, tbody td { padding: 0.125rem 0; border: 0; }
          tbody .n { grid-column: 1 / 4; font-size: 1.0625rem; }
          tbody .d, tbody .s, tbody .g { grid-row: 2; font-size: 0.875rem; }
          tbody .d { grid-column: 1; padding-left: 1.5rem; }
          tbody .d::after { content: " UTC"; }
          tbody .s { grid-column: 2; }
          tbody .g { grid-column: 3; }
          .g a { padding: 0.25rem 0; }
        }

        """
}
