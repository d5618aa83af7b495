// biome-ignore-all lint/security/noSecrets: nothing here is secret

/** Everything that text should not be able to do, in one text. What leaves goes to `canary`; what runs sets `__canary`. */
export function hostileText(canary: string): string {
  const runs = "window.__canary=1";
  return [
    `<script>${runs}</script><script src="${canary}/script"></script>`,
    `<img src="${canary}/img" onerror="${runs}"><img src=x onerror=${runs}>`,
    `<svg onload="${runs}"><image href="${canary}/svg"/><foreignObject><body onload="${runs}"></foreignObject></svg>`,
    `<math><mtext><style><img src=x onerror="${runs}"></style></mtext></math>`,
    `<iframe src="${canary}/frame" srcdoc="<script>top.__canary=1</script>"></iframe>`,
    `<form action="${canary}/form"><button autofocus onfocus="${runs}">x</button></form>`,
    `<meta http-equiv="refresh" content="0;url=${canary}/meta"><base href="${canary}/base/">`,
    `<link rel="stylesheet" href="${canary}/css"><link rel="preconnect" href="${canary}">`,
    `<style>@import "${canary}/import"; * { background: url(${canary}/background) }</style>`,
    `<div style="position:fixed;inset:0;background:url(${canary}/style)" onmouseover="${runs}">x</div>`,
    `<details open ontoggle="${runs}"><template><script>${runs}</script></template></details>`,
    `![x](${canary}/markdown "t") ![y][r] [a](javascript:${runs}) [b](JaVaScRiPt:${runs}) [c](java\tscript:${runs})`,
    `[d](data:text/html,<script>${runs}</script>) [e](vbscript:x) <javascript:${runs}> [https://bank.example](${canary}/x)`,
    `\n\n[r]: ${canary}/reference "t"\n\n\${${runs}} {{constructor.constructor('${runs}')()}} <%= ${runs} %>`,
    "\u202egnp.exe\u202c \u{e0041}\u{e0042} \u200b\u0007\u001b]8;;http://x\u0007 __proto__ constructor toString",
    "W".repeat(400),
  ].join(" ");
}

/** Addresses that must not be followed, opened or loaded. */
export function hostileUrls(canary: string): readonly string[] {
  return [
    "javascript:window.__canary=1",
    " java\nscript:window.__canary=1",
    "data:text/html,<script>window.__canary=1</script>",
    `${canary}/url`,
    `//${new URL(canary).host}/slashes`,
    "file:///etc/passwd",
  ];
}
