import type { Json } from "capstan";

// The host's side of MCP Apps (https://modelcontextprotocol.io/extensions/apps). Written here because `AppBridge` of
// `@modelcontextprotocol/ext-apps` brings an MCP client and a schema library with it; tests connect that package's `App`.

/** The newest revision of the protocol, and the ones that differ in nothing that is used here. */
const protocolVersion = "2026-01-26";

/** A message of the frame or to it. */
type Message = {
  readonly jsonrpc: "2.0";
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: unknown;
};

/** The result of a tool, as MCP has it. */
export type ToolResult = {
  readonly content: readonly Json[];
  readonly structuredContent?: Json;
  readonly isError?: boolean;
  readonly _meta?: Json;
};

/** What an app can ask of its host. A rejection is the error that the app gets. */
export type AppHost = {
  callTool(name: string, input: Json): Promise<ToolResult>;
  /** Resolves with whether the user agreed. */
  openLink(url: string): Promise<boolean>;
  sendMessage(text: string): Promise<boolean>;
  onResize(height: number): void;
  onClose(): void;
  /** The frame broke a rule and must be removed. */
  onViolation(reason: string): void;
};

export type AppBridgeOptions = {
  readonly host: AppHost;
  /** Sends a message to the frame. */
  post(message: object): void;
  /** What the app gets to know about the studio: theme, language, sizes. */
  getContext(): Readonly<Record<string, Json>>;
  /** The call that the app shows. */
  readonly call: { readonly input: Json; readonly result: ToolResult };
  now?(): number;
};

export interface AppBridge {
  /** Handles a message of the frame. The caller has checked that it comes from the frame. */
  receive(message: unknown): void;
  /** Tells the app about a change of the context. */
  updateContext(context: Readonly<Record<string, Json>>): void;
}

const maxMessagesPerSecond = 200;
const maxCallsPerMinute = 60;
const maxOpenCalls = 4;
const maxMessageLength = 1_000;
const maxInputSize = 1_000_000;

class RequestError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function createAppBridge(options: AppBridgeOptions): AppBridge {
  const { host, post, getContext, call, now = () => performance.now() } = options;
  const countMessage = createRateLimit(maxMessagesPerSecond, 1_000, now);
  const countCall = createRateLimit(maxCallsPerMinute, 60_000, now);
  let isStopped = false;
  let openCalls = 0;
  const notify = (method: string, params: unknown) => post({ jsonrpc: "2.0", method, params });

  async function callTool(params: Readonly<Record<string, unknown>>): Promise<ToolResult> {
    const { name, arguments: input = {} } = params;
    if (typeof name !== "string" || !isObject(input))
      throw invalidParams("`name` and `arguments` are required.");
    if (JSON.stringify(input).length > maxInputSize) throw invalidParams("The arguments are too long.");
    if (openCalls >= maxOpenCalls)
      throw new RequestError(-32000, "Too many calls are open. Wait for a result.");
    if (!countCall()) throw new RequestError(-32000, "Too many calls within a minute.");
    openCalls += 1;
    try {
      return await host.callTool(name, input as Json);
    } finally {
      openCalls -= 1;
    }
  }

  const requests: Readonly<
    Record<string, (params: Readonly<Record<string, unknown>>) => object | Promise<object>>
  > = {
    ping: () => ({}),
    "ui/initialize": () => ({
      protocolVersion,
      hostInfo: { name: "Capstan Studio", version: "1" },
      hostCapabilities: { openLinks: {}, serverTools: {}, message: { text: {} } },
      hostContext: getContext(),
    }),
    "tools/call": callTool,
    "ui/open-link": async ({ url }) => toAnswer(typeof url === "string" && (await host.openLink(url))),
    "ui/message": async ({ content }) => {
      const text = joinText(content);
      if (text === undefined) throw invalidParams(`Send text of at most ${maxMessageLength} characters.`);
      return toAnswer(await host.sendMessage(text));
    },
    "ui/request-display-mode": () => ({ mode: "inline" }),
  };
  const notifications: Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => void>> = {
    "ui/notifications/initialized"() {
      notify("ui/notifications/tool-input", { arguments: call.input });
      notify("ui/notifications/tool-result", call.result);
    },
    "ui/notifications/size-changed"({ height }) {
      if (typeof height === "number" && Number.isFinite(height)) host.onResize(height);
    },
    "ui/notifications/request-teardown": () => host.onClose(),
  };

  async function answer({ id, method = "", params }: Message): Promise<void> {
    const handle = Object.hasOwn(requests, method) ? requests[method] : undefined;
    try {
      if (!handle) throw new RequestError(-32601, `Method not found: ${method.slice(0, 100)}`);
      post({ jsonrpc: "2.0", id, result: await handle(isObject(params) ? params : {}) });
    } catch (thrown) {
      const { message } = thrown as Error;
      const code = thrown instanceof RequestError ? thrown.code : -32000;
      post({ jsonrpc: "2.0", id, error: { code, message } });
    }
  }

  return {
    receive(message) {
      if (isStopped || !isMessage(message)) return;
      if (!countMessage()) {
        isStopped = true;
        host.onViolation("It sent too many messages.");
      } else if (message.id !== undefined) void answer(message);
      else if (Object.hasOwn(notifications, message.method ?? ""))
        notifications[message.method ?? ""]?.(isObject(message.params) ? message.params : {});
    },
    updateContext: (context) => notify("ui/notifications/host-context-changed", context),
  };
}

/** Returns a function that says whether one more event is within the limit. */
function createRateLimit(limit: number, windowMs: number, now: () => number): () => boolean {
  let start = Number.NEGATIVE_INFINITY;
  let count = 0;
  return () => {
    if (now() - start >= windowMs) [start, count] = [now(), 0];
    count += 1;
    return count <= limit;
  };
}

const invalidParams = (message: string): RequestError => new RequestError(-32602, message);

const toAnswer = (isAccepted: boolean): object => (isAccepted ? {} : { isError: true });

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A request or a notification. Responses are to nothing that the host asks. */
function isMessage(value: unknown): value is Message {
  if (!isObject(value) || value.jsonrpc !== "2.0" || typeof value.method !== "string") return false;
  return value.id === undefined || typeof value.id === "string" || typeof value.id === "number";
}

/** Returns the text of a message; undefined if it has anything else, or too much. */
function joinText(content: unknown): string | undefined {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = blocks.map((block) => (isObject(block) && block.type === "text" ? block.text : undefined));
  const text = texts.every((each) => typeof each === "string") ? texts.join("\n").trim() : "";
  return text === "" || text.length > maxMessageLength ? undefined : text;
}
