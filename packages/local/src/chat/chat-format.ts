import type { ChatWrapper, ChatWrapperSettings } from "node-llama-cpp";

/** A text of a chat wrapper: plain, or with special tokens. */
type WrapperText = ChatWrapperSettings["functions"]["call"]["prefix"] | undefined;

/** How a model writes calls and reasoning. The arguments of a call are JSON between `argumentsPrefix` and `suffix`. */
export type ChatFormat = {
  readonly call: {
    /** The text that starts a call, and the rest up to the name of the tool. */
    readonly trigger: string;
    readonly namePrefix: string;
    readonly argumentsPrefix: string;
    readonly suffix: string;
    /** Between two calls. */
    readonly separator: string;
  };
  readonly thought?: { readonly prefix: string; readonly suffix: string };
};

/** Qwen's and Hermes' way to call tools, for templates without one. */
const hermesCall: ChatFormat["call"] = {
  trigger: "<tool_call>",
  namePrefix: '\n{"name": "',
  argumentsPrefix: '", "arguments": ',
  suffix: "}\n</tool_call>",
  separator: "\n",
};

/** Reads the format from a chat wrapper. `hasOwnCalls` is false if its calls are not JSON: then ours are used. */
export function readChatFormat(wrapper: ChatWrapper): ChatFormat & { readonly hasOwnCalls: boolean } {
  const { functions, segments } = wrapper.settings;
  const thoughtPrefix = segments?.thought?.prefix;
  const suffix = toText(segments?.thought?.suffix).trim();
  const isOpen =
    typeof thoughtPrefix === "object" && "type" in thoughtPrefix && thoughtPrefix.type === "openedOnStart";
  const prefix = isOpen ? "<think>" : toText(thoughtPrefix as WrapperText).trim();
  const call = readCallFormat(functions);
  const hasOwnCalls = isJsonCall(wrapper, call);
  return {
    call: hasOwnCalls ? call : hermesCall,
    hasOwnCalls,
    ...(prefix !== "" && suffix !== "" && { thought: { prefix, suffix } }),
  };
}

function readCallFormat({ call, parallelism }: ChatWrapperSettings["functions"]): ChatFormat["call"] {
  const prefix = toText(call.prefix).trimStart();
  // A marker is enough to recognize a call: models vary the white space that follows.
  const trigger = /^(?:<[^<>\s]+>|\[[A-Z_]+\])/.exec(prefix)?.[0] ?? prefix;
  return {
    trigger,
    namePrefix: prefix.slice(trigger.length),
    argumentsPrefix: toText(call.paramsPrefix),
    suffix: toText(call.suffix).trimEnd(),
    separator: toText(parallelism?.call.betweenCalls),
  };
}

function isJsonCall(wrapper: ChatWrapper, call: ChatFormat["call"]): boolean {
  const { trigger, namePrefix, argumentsPrefix, suffix } = call;
  if (trigger === "" || /\{\{/.test(argumentsPrefix + suffix)) return false;
  const written = toText(wrapper.generateFunctionCall("probe", { a: 1 })).replace(/\s/g, "");
  return written === `${trigger}${namePrefix}probe${argumentsPrefix}{"a":1}${suffix}`.replace(/\s/g, "");
}

/** Returns the characters of a text, without tokens that have none, such as the end of the text. */
export function toText(text: WrapperText): string {
  if (text === undefined || typeof text === "string") return text ?? "";
  return [text.toJSON()]
    .flat()
    .map((value) =>
      typeof value === "string" ? value : value.type === "specialTokensText" ? value.value : "",
    )
    .join("");
}
