// biome-ignore-all lint/security/noSecrets: nothing here is secret

/** A text with every known attack. Requests go to `canary`; executed scripts set `__canary`. */
export function buildHostileText(canary: string): string {
  const script = "window.__canary=1";
  return [
    `<script>${script}</script><script src="${canary}/script"></script>`,
    `<img src="${canary}/img" onerror="${script}"><img src=x onerror=${script}>`,
    `<svg onload="${script}"><image href="${canary}/svg"/><foreignObject><body onload="${script}"></foreignObject></svg>`,
    `<math><mtext><style><img src=x onerror="${script}"></style></mtext></math>`,
    `<iframe src="${canary}/frame" srcdoc="<script>top.__canary=1</script>"></iframe>`,
    `<form action="${canary}/form"><button autofocus onfocus="${script}">x</button></form>`,
    `<meta http-equiv="refresh" content="0;url=${canary}/meta"><base href="${canary}/base/">`,
    `<link rel="stylesheet" href="${canary}/css"><link rel="preconnect" href="${canary}">`,
    `<style>@import "${canary}/import"; * { background: url(${canary}/background) }</style>`,
    `<div style="position:fixed;inset:0;background:url(${canary}/style)" onmouseover="${script}">x</div>`,
    `<details open ontoggle="${script}"><template><script>${script}</script></template></details>`,
    `![x](${canary}/markdown "t") ![y][r] [a](javascript:${script}) [b](JaVaScRiPt:${script}) [c](java\tscript:${script})`,
    `[d](data:text/html,<script>${script}</script>) [e](vbscript:x) <javascript:${script}> [https://bank.example](${canary}/x)`,
    `\n\n[r]: ${canary}/reference "t"\n\n\${${script}} {{constructor.constructor('${script}')()}} <%= ${script} %>`,
    "\u202egnp.exe\u202c \u{e0041}\u{e0042} \u200b\u0007\u001b]8;;http://x\u0007 __proto__ constructor toString",
    "W".repeat(400),
  ].join(" ");
}

/** URLs that must not be followed or loaded. */
export function buildHostileUrls(canary: string): readonly string[] {
  return [
    "javascript:window.__canary=1",
    " java\nscript:window.__canary=1",
    "data:text/html,<script>window.__canary=1</script>",
    `${canary}/url`,
    `//${new URL(canary).host}/slashes`,
    "file:///etc/passwd",
  ];
}
