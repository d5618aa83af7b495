// The app's side of MCP Apps, as far as a page that shows a result needs it. Tests connect `AppBridge` of
// `@modelcontextprotocol/ext-apps`.

/** A message of the host. */
type HostMessage = {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: { readonly hostContext?: HostContext };
};

export type HostContext = { readonly theme?: string };

export type HostHandlers = {
  onContext(context: HostContext): void;
  /** The result of the call that the page shows. */
  onResult(result: Readonly<Record<string, unknown>>): void;
};

export interface HostConnection {
  resize(height: number): void;
  /** Asks the host to open a link, because the frame cannot. */
  openLink(url: string): void;
}

/** Connects the page to the window that contains it. */
export function connectHost({ onContext, onResult }: HostHandlers): HostConnection {
  const initializeId = 1;
  let lastId = initializeId;
  const post = (message: object) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  addEventListener("message", ({ source, data }: MessageEvent<HostMessage>) => {
    if (source !== parent) return;
    const { id, method, params = {}, result } = data;
    if (method === undefined && id === initializeId) {
      onContext(result?.hostContext ?? {});
      post({ method: "ui/notifications/initialized", params: {} });
    } else if (method === "ui/notifications/host-context-changed") onContext(params);
    else if (method === "ui/notifications/tool-result") onResult(params);
    else if (method !== undefined && id !== undefined) post({ id, result: {} });
  });
  post({
    id: initializeId,
    method: "ui/initialize",
    params: {
      appInfo: { name: "capstan-widgets", version: "1" },
      appCapabilities: {},
      protocolVersion: "2026-01-26",
    },
  });
  return {
    resize: (height) => post({ method: "ui/notifications/size-changed", params: { height } }),
    openLink(url) {
      lastId += 1;
      post({ id: lastId, method: "ui/open-link", params: { url } });
    },
  };
}
