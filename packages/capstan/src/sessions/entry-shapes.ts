import type { ErrorData } from "../base/errors.ts";
import type {
  AssistantEntry,
  AssistantPart,
  CallPart,
  Citation,
  Entry,
  FileReference,
  Fragment,
  GeneratedMedia,
  OpaquePart,
  Part,
  ReasoningPart,
  ResultEntry,
  ResultStatus,
  TextPart,
  UiHint,
  UserEntry,
} from "../kernel/history.ts";
import type { MessageEnd, StopReason, Usage } from "../kernel/model.ts";
import type { Provenance } from "../kernel/provenance.ts";
import { noUsage } from "../kernel/state.ts";
import type { Reads } from "../kernel/tool.ts";
import {
  amount,
  array,
  boolean,
  choice,
  count,
  type Dropped,
  drop,
  dropped,
  either,
  json,
  keep,
  keepOptional,
  object,
  openObject,
  type Replaced,
  record,
  replace,
  replaceOptional,
  type Shape,
  string,
  variants,
} from "./shapes.ts";

type Body<Tagged extends { readonly type: string }> = Omit<Tagged, "type">;

// The text of a file was not written in this deployment, and its results were not labeled here.
const external = replaceOptional(
  choice("user", "operator", "application", "external"),
  (): Provenance => "external",
);
export const unvouched: Replaced<readonly Reads[], true> = replaceOptional(
  array(choice("public", "private", "untrusted")),
  (): readonly Reads[] => ["untrusted", "private"],
);

/** Usage counts against budgets, and nothing in a file was spent here. */
const usageShape = object<Usage>({
  inputTokens: keep(amount),
  outputTokens: keep(amount),
  ...{ cachedTokens: keepOptional(amount), reasoningTokens: keepOptional(amount) },
  ...{ cacheWriteTokens: keepOptional(amount), longCacheWriteTokens: keepOptional(amount) },
  webSearches: keepOptional(amount),
  ...{ cost: keepOptional(amount), unpriced: keepOptional(boolean), estimated: keepOptional(boolean) },
});
export const notSpent: Replaced<Usage, false> = replace(usageShape, () => noUsage);
export const notSpentOptional: Dropped<Usage> = drop(usageShape);

const filePart = object<Body<Exclude<Part, { type: "text" }>>>({
  mediaType: keep(string),
  data: keepOptional(string),
  url: keepOptional(string),
  // The file may belong to someone else who uses the same account.
  file: drop(
    object<FileReference>({ provider: keep(string), id: keep(string), expiresAt: keepOptional(amount) }),
  ),
});
export const content: Shape<string | readonly Part[]> = either(
  string,
  array(
    variants<Part>({
      text: object<Body<Extract<Part, { type: "text" }>>>({ text: keep(string) }),
      image: filePart,
      file: filePart,
    }),
  ),
);

// A provider's own data is sent back to it unchanged, so it could contain anything, such as a system message.
const opaque = drop(json);
const assistantPart = variants<AssistantPart>({
  text: object<Body<TextPart>>({ text: keep(string), opaque }),
  reasoning: object<Body<ReasoningPart>>({ text: keep(string), opaque }),
  call: object<Body<CallPart>>({
    ...{ id: keep(string), providerId: keepOptional(string), name: keep(string), input: keep(record(json)) },
    ...{ raw: keepOptional(string), opaque },
  }),
  opaque: dropped(object<Body<OpaquePart>>({ data: keep(json) })),
  media: object<Body<GeneratedMedia>>({
    ...{ mediaType: keep(string), handle: keepOptional(string), size: keepOptional(amount) },
    ...{ data: drop(string), opaque },
  }),
});

export const status: Shape<ResultStatus> = choice("ok", "error", "denied", "skipped", "interrupted");
export const error: Shape<ErrorData> = object<ErrorData>({
  ...{ code: keep(string), message: keep(string), retryable: keep(boolean), retryAfterMs: drop(amount) },
});
export const fragments: Shape<readonly Fragment[]> = array(
  object<Fragment>({
    id: keep(string),
    content: keep(string),
    source: keep(openObject<Fragment["source"]>({ title: keep(string), url: keepOptional(string) })),
    isInResult: keepOptional(choice(true)),
  }),
);
export const citations: Shape<readonly Citation[]> = array(
  object<Citation>({ n: keep(count), id: keep(string), title: keep(string), url: keepOptional(string) }),
);
export const ui: Shape<UiHint> = object<UiHint>({ kind: keep(string), props: keep(json) });
export const stopReason: Shape<StopReason> = choice<StopReason>(
  ...(["end", "tool_calls", "length", "content_filter", "refusal", "pause", "other"] as const),
);
export const messageEnd: Shape<MessageEnd> = either(stopReason, choice("aborted"));

const userBody = object<Body<UserEntry>>({ content: keep(content), provenance: external });
const assistantBody = object<Body<AssistantEntry>>({
  parts: keep(array(assistantPart)),
  provenance: external,
});
export const userEntry: Shape<UserEntry> = variants<UserEntry>({ user: userBody });
export const assistantEntry: Shape<AssistantEntry> = variants<AssistantEntry>({ assistant: assistantBody });
export const entry: Shape<Entry> = variants<Entry>({
  user: userBody,
  assistant: assistantBody,
  result: object<Body<ResultEntry>>({
    ...{ callId: keep(string), name: keep(string), status: keep(status), content: keep(content) },
    ...{ data: keepOptional(json), affected: keepOptional(json), message: keepOptional(string) },
    error: keepOptional(
      object<NonNullable<ResultEntry["error"]>>({ code: keep(string), message: keep(string) }),
    ),
    ...{ ui: keepOptional(ui), contexts: keepOptional(fragments) },
    ...{ handle: keepOptional(string), isPartial: keepOptional(choice(true)) },
    reads: unvouched,
  }),
  summary: object<Body<Extract<Entry, { type: "summary" }>>>({ text: keep(string), provenance: external }),
});
