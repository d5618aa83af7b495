/** Styles of an exported session: the studio's. Follows the reader's light or dark mode and works on phones. */
export const htmlStyle: string = `
:root { color-scheme: light dark; --paper: #fdfdfc; --raised: #fff; --sunken: #f5f5f3; --line: #e5e4e0; --ink: #1c1c1a; --quiet: #5c5b57; --accent: #0f766e; --accent-soft: #e3f2ef; --good: #15803d; --bad: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #151514; --raised: #1c1c1b; --sunken: #111110; --line: #2e2e2b; --ink: #ececea; --quiet: #a9a8a3; --accent: #2dd4bf; --accent-soft: #12302c; --good: #4ade80; --bad: #f98d84; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 0.9375rem/1.6 Inter, ui-sans-serif, system-ui, sans-serif; -webkit-font-smoothing: antialiased; }
main { max-width: 48rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
header { padding-bottom: 1rem; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.3; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { margin: 1.5rem 0 0.25rem; font-size: 0.75rem; font-weight: 500; color: var(--accent); overflow-wrap: anywhere; }
h3 { margin: 1.25rem 0 0.5rem; font-size: 1.125rem; }
h4 { margin: 1rem 0 0.5rem; font-size: 1rem; }
small, .small { color: var(--quiet); font-size: 0.8125rem; font-weight: normal; }
section { border-top: 1px solid var(--line); padding-bottom: 1rem; }
.person { display: grid; justify-items: end; }
.person h2 { color: var(--quiet); }
.bubble { max-width: 85%; padding: 0.5rem 1rem; border-radius: 1.125rem; background: var(--sunken); border: 1px solid var(--line); }
.text, .markdown { overflow-wrap: anywhere; }
.text { white-space: pre-wrap; }
.markdown p, .markdown ul, .markdown ol { margin: 0.5rem 0; }
blockquote { margin: 0.5rem 0; padding-left: 0.75rem; border-left: 2px solid var(--line); color: var(--quiet); }
hr { margin: 1rem 0; border: 0; border-top: 1px solid var(--line); }
.note { margin: 0.5rem 0; padding-left: 0.75rem; border-left: 2px solid var(--line); color: var(--quiet); overflow-wrap: anywhere; }
.failed, .limit, .cancelled { color: var(--bad); }
details { margin: 0.5rem 0; padding: 0.375rem 0.75rem; border: 1px solid var(--line); border-radius: 0.5rem; background: var(--raised); }
summary { cursor: pointer; color: var(--quiet); font-size: 0.8125rem; overflow-wrap: anywhere; }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.call > summary { font-family: ui-monospace, Menlo, Consolas, monospace; }
.dot { display: inline-block; width: 0.5rem; height: 0.5rem; margin-right: 0.5rem; border-radius: 50%; background: var(--quiet); }
.dot.good { background: var(--good); }
.dot.bad { background: var(--bad); }
pre, code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 0.8125rem; }
pre { margin: 0.5rem 0; padding: 0.5rem 0.75rem; border-radius: 0.375rem; background: var(--sunken); white-space: pre-wrap; overflow-wrap: anywhere; }
p code, li code, td code { padding: 0.1em 0.3em; border-radius: 0.25rem; background: var(--sunken); }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--quiet); font-weight: 500; }
figure { margin: 0.75rem 0; padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.5rem; background: var(--raised); }
figcaption { margin-bottom: 0.5rem; font-weight: 500; }
svg { display: block; width: 100%; height: auto; }
polyline { fill: none; stroke: var(--c); stroke-width: 2; }
rect { fill: var(--c); }
.axis { stroke: var(--line); }
.key::before { content: ""; display: inline-block; width: 0.625rem; height: 0.625rem; margin-right: 0.25rem; border-radius: 0.125rem; background: var(--c); }
.c0 { --c: #0f766e; } .c1 { --c: #b45309; } .c2 { --c: #4f46e5; } .c3 { --c: #be185d; } .c4 { --c: #0369a1; } .c5 { --c: #4d7c0f; }
@media (prefers-color-scheme: dark) {
  .c0 { --c: #2dd4bf; } .c1 { --c: #fbbf24; } .c2 { --c: #a5b4fc; } .c3 { --c: #f9a8d4; } .c4 { --c: #7dd3fc; } .c5 { --c: #bef264; }
}
.cite { display: inline-block; min-width: 1.25rem; margin: 0 0.125rem; padding: 0 0.25rem; border-radius: 0.25rem; background: var(--accent-soft); color: var(--accent); font-size: 0.75rem; line-height: 1.25rem; text-align: center; text-decoration: none; }
.sources { padding: 0; list-style: none; font-size: 0.875rem; overflow-wrap: anywhere; }
img { max-width: 100%; border-radius: 0.375rem; }
@media print { details, figure { break-inside: avoid; } }
`;

/** SHA-256 of the style, for the page's content security policy. */
export const htmlStyleHash = "sMUdQdLnxEt4/6PerQyQ1MgtYfi+E1uMDWUPGPN/qsA=";
