import type { Json } from "../base/json.ts";
import type { Reads } from "./tool.ts";

/** What a provider can execute by itself. */
export type HostedKind = keyof HostedOptions;

/** Options of every hosted tool. */
export type CommonHostedOptions = {
  /** Labels of the results. Default: depends on the kind. */
  readonly reads?: readonly Reads[];
  /** Fields of the provider's own definition of the tool; they win over the typed options. */
  readonly extra?: { readonly [field: string]: Json };
};

/** Where the user is, roughly. */
export type UserLocation = {
  readonly city?: string;
  readonly region?: string;
  /** Two letters, such as `NO`. */
  readonly country?: string;
  /** An IANA name, such as `Europe/Oslo`. */
  readonly timezone?: string;
};

export type WebSearchOptions = CommonHostedOptions & {
  readonly allowedDomains?: readonly string[];
  readonly blockedDomains?: readonly string[];
  /** Maximum searches in one request. */
  readonly maxUses?: number;
  readonly userLocation?: UserLocation;
};

export type WebFetchOptions = Omit<WebSearchOptions, "userLocation">;

export type FileSearchOptions = CommonHostedOptions & {
  /** The provider's ids of the stores to search: vector stores at OpenAI, file search stores at Gemini. */
  readonly stores: readonly string[];
  readonly maxResults?: number;
};

export type ImageGenerationOptions = CommonHostedOptions & {
  /** Such as `1024x1024`. */
  readonly size?: string;
  readonly quality?: "low" | "medium" | "high";
  readonly format?: "png" | "webp" | "jpeg";
};

export type HostedMcpOptions = CommonHostedOptions & {
  /** Names the server, in letters, digits, `_` and `-`. */
  readonly label: string;
  readonly url: string;
  /** Default: all tools of the server. */
  readonly allowedTools?: readonly string[];
  /**
   * `always` (default): the user approves each call. `never`: the provider makes the calls without asking. A provider
   * that cannot ask accepts only `never`.
   */
  readonly approval?: "always" | "never";
  /** OAuth token for the server. */
  readonly token?: string;
};

/** The display that the model sees. */
export type ComputerDisplay = CommonHostedOptions & {
  readonly displayWidth: number;
  readonly displayHeight: number;
  /** Default: `browser`. */
  readonly environment?: "browser" | "linux" | "mac" | "windows";
};

/** The options of each kind. */
export type HostedOptions = {
  readonly webSearch: WebSearchOptions;
  readonly webFetch: WebFetchOptions;
  readonly codeExecution: CommonHostedOptions;
  readonly fileSearch: FileSearchOptions;
  readonly imageGeneration: ImageGenerationOptions;
  readonly mcp: HostedMcpOptions;
  readonly computer: ComputerDisplay;
  readonly toolSearch: CommonHostedOptions;
};

/** A kind with its options. */
export type HostedTool = {
  readonly [Kind in HostedKind]: { readonly kind: Kind; readonly options: HostedOptions[Kind] };
}[HostedKind];

/** A hosted tool in a request to a model. */
export type HostedToolSpec = HostedTool & { readonly name: string };

/**
 * A call that the provider executes. A model reports it in one or more chunks with the same `id`: later fields replace
 * earlier ones, and `outcome` ends it.
 */
export type HostedCall = {
  /** The provider's. Missing if it has none: then each chunk is another call. */
  readonly id?: string;
  readonly kind: HostedKind;
  /** Default: the name of the agent's tool of this kind. */
  readonly name?: string;
  readonly input?: Json;
  readonly outcome?: {
    readonly isError: boolean;
    /** For display and logs; the model gets the provider's own data. */
    readonly text: string;
    readonly data?: Json;
    /** Searches that the provider bills in addition to the tokens. */
    readonly searches?: number;
  };
};

/** A source that a text cites. */
export type CitedSource = { readonly id: string; readonly title: string; readonly url?: string };

/** The name of each kind's tool. */
export const hostedNames: {
  readonly webSearch: "web_search";
  readonly webFetch: "web_fetch";
  readonly codeExecution: "code_execution";
  readonly fileSearch: "file_search";
  readonly imageGeneration: "image_generation";
  readonly mcp: "mcp";
  readonly computer: "computer";
  readonly toolSearch: "tool_search";
} = {
  webSearch: "web_search",
  webFetch: "web_fetch",
  codeExecution: "code_execution",
  fileSearch: "file_search",
  imageGeneration: "image_generation",
  mcp: "mcp",
  computer: "computer",
  toolSearch: "tool_search",
};

/** The labels of each kind's results. */
export const hostedReads: { readonly [Kind in HostedKind]: readonly Reads[] } = {
  webSearch: ["untrusted"],
  webFetch: ["untrusted"],
  codeExecution: [],
  fileSearch: ["private"],
  imageGeneration: [],
  mcp: ["untrusted", "private"],
  computer: ["untrusted", "private"],
  toolSearch: [], // third-party descriptions have their own label
};

/**
 * Whether the provider sends data out without asking: queries, addresses, arguments. Calls that the user approves and
 * calls that the client executes pass the safety gate like others.
 */
export function isOutgoing({ kind, options }: HostedTool): boolean {
  if (kind === "mcp") return options.approval === "never";
  return kind === "webSearch" || kind === "webFetch";
}
