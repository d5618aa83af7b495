import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** Creates the page of an MCP App that uses the official SDK, in one file. The script gets `app`, which is not connected. */
export function createAppPage(script: string): string {
  const file = createRequire(import.meta.url).resolve("@modelcontextprotocol/ext-apps/app-with-deps");
  const sdk = `data:text/javascript;base64,${readFileSync(file).toString("base64")}`;
  return `<!doctype html>
<meta charset="utf-8">
<title>Counter</title>
<style>
  body { margin: 0; padding: 12px; font: 15px system-ui; color: var(--color-text-primary); }
  button { font: inherit; padding: 6px 12px; margin-right: 8px; }
</style>
<p>Count: <output id="count">?</output></p>
<p>
  <button id="add">Add 5</button><button id="peek">Peek</button>
  <button id="link">Docs</button><button id="ask">Ask</button>
</p>
<p id="status">Starting</p>
<script type="module">
  import { App, applyHostStyleVariables } from "${sdk}";
  const app = new App({ name: "counter", version: "1.0.0" });
  const show = (id, text) => { document.getElementById(id).textContent = text; };
  const onClick = (id, act) => { document.getElementById(id).onclick = act; };
  ${script}
</script>`;
}

export const counterScript = `
  const showResult = ({ structuredContent, isError, content }) => {
    if (isError) show("status", content[0].text);
    else { show("count", structuredContent.count); show("status", content[0].text); }
  };
  const call = (name, args) => app.callServerTool({ name, arguments: args }).then(showResult, (error) => show("status", error.message));
  app.ontoolinput = ({ arguments: args }) => { document.title = JSON.stringify(args); };
  app.ontoolresult = (result) => { showResult(result); document.body.dataset.meta = result._meta?.forTheApp; };
  app.onhostcontextchanged = ({ theme }) => { document.body.dataset.theme = theme; };
  onClick("add", () => call("add", { by: 5 }));
  onClick("peek", () => call("peek", {}));
  onClick("link", async () => show("status", JSON.stringify(await app.openLink({ url: "https://example.com/docs" }))));
  onClick("ask", async () => show("status", JSON.stringify(await app.sendMessage({ role: "user", content: [{ type: "text", text: "How many now?" }] }))));
  await app.connect();
  const context = app.getHostContext();
  document.body.dataset.theme = context.theme;
  if (context.styles?.variables) applyHostStyleVariables(context.styles.variables);
`;
