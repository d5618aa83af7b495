import type { McpServer } from "@modelcontextprotocol/server";
import type { Json, Result, UiHint } from "capstan";
import { appHintKind } from "../client/apps/app-hint.ts";
import { appExtension, appMediaType } from "../client/apps/app-metadata.ts";

/** The MCP App that shows the widgets of an answer. */
export const widgetUri = "ui://capstan/widgets.html";

/** Put into the definition of a tool whose results the app shows. */
export const widgetToolMeta: { readonly ui: { readonly resourceUri: string } } = {
  ui: { resourceUri: widgetUri },
};

/** Offers the page with the widgets. It loads nothing, so it needs no origins. */
export function addWidgetResource(server: McpServer, html: string): void {
  const meta = { ui: { csp: {}, prefersBorder: false } };
  const config = { description: "Shows the widgets of an answer.", mimeType: appMediaType, _meta: meta };
  server.server.registerCapabilities({ extensions: { [appExtension]: {} } });
  server.registerResource("widgets", widgetUri, config, () => ({
    contents: [{ uri: widgetUri, mimeType: appMediaType, text: html, _meta: meta }],
  }));
}

/** More widgets than this are left out, the first ones first. */
const maxWidgetSize = 1_000_000;

/** Returns the widgets of a run's results, for the app: models of other hosts do not read `_meta`. */
export function buildWidgetMeta({ history, toolCalls }: Result): { readonly _meta?: Record<string, Json> } {
  const callIds = new Set(toolCalls.map(({ id }) => id));
  const widgets: UiHint[] = [];
  let size = 0;
  for (const entry of history.toReversed()) {
    if (entry.type !== "result" || !callIds.has(entry.callId) || !entry.ui) continue;
    // The app of another server needs that server.
    if (entry.ui.kind === appHintKind) continue;
    size += JSON.stringify(entry.ui).length;
    if (size > maxWidgetSize) break;
    widgets.unshift(entry.ui);
  }
  return widgets.length === 0 ? {} : { _meta: { "capstan/widgets": widgets } };
}
