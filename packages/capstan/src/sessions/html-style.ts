/** Styles of an exported session. Follows the reader's light or dark mode and works on phones. */
export const htmlStyle: string = `
:root { color-scheme: light dark; --page: #fff; --text: #1c1c1c; --soft: #666; --line: #ddd; --box: #f5f5f5; --bad: #b00020; }
@media (prefers-color-scheme: dark) {
  :root { --page: #161616; --text: #e8e8e8; --soft: #a0a0a0; --line: #3a3a3a; --box: #222; --bad: #ff8a80; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
h2 { font-size: 0.95rem; margin: 1rem 0 0.25rem; }
small, .small { color: var(--soft); font-size: 0.85rem; font-weight: normal; }
section { border-top: 1px solid var(--line); padding-bottom: 1rem; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
.person .text { background: var(--box); border-radius: 0.5rem; padding: 0.5rem 0.75rem; }
.note { color: var(--soft); border-left: 3px solid var(--line); padding-left: 0.75rem; overflow-wrap: anywhere; }
.failed, .limit, .cancelled { color: var(--bad); }
details { border: 1px solid var(--line); border-radius: 0.5rem; margin: 0.5rem 0; padding: 0.25rem 0.75rem; }
summary { cursor: pointer; color: var(--soft); overflow-wrap: anywhere; }
pre { background: var(--box); padding: 0.5rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.85rem; }
img { max-width: 100%; }
ul { padding-left: 1.25rem; overflow-wrap: anywhere; }
`;

/** SHA-256 of the style, for the page's content security policy. */
export const htmlStyleHash = "ofLLgLL/PrC9/apbeq521SDBPMfu5fDRJyuB+9fFpso=";
