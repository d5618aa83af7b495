import { AgentError } from "capstan";
import { z } from "zod";

const text = z.string().max(1_000_000);

const part = z.union([
  z.object({ type: z.literal("text"), text }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
  z.object({ type: z.literal("file"), file: z.object({ file_data: z.string() }) }),
]);

const content = z.union([text, z.array(part).max(100)]);

const call = z.object({
  id: z.string().min(1).max(500),
  function: z.object({ name: z.string().min(1).max(128), arguments: text }),
});

const message = z.discriminatedUnion("role", [
  z.object({ role: z.enum(["system", "developer"]), content }),
  z.object({ role: z.literal("user"), content }),
  z.object({
    role: z.literal("assistant"),
    content: content.nullish(),
    tool_calls: z.array(call).max(128).nullish(),
  }),
  z.object({ role: z.literal("tool"), tool_call_id: z.string().min(1).max(500), content }),
]);

export type ChatContent = string | readonly ChatPart[];
export type ChatPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
  | { readonly type: "file"; readonly file: { readonly file_data: string } };
export type ChatCall = {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
};

/** A message in the format of chat APIs. */
export type ChatMessage =
  | { readonly role: "system" | "developer" | "user"; readonly content: ChatContent }
  | {
      readonly role: "assistant";
      readonly content?: ChatContent | null | undefined;
      readonly tool_calls?: readonly ChatCall[] | null | undefined;
    }
  | {
      readonly role: "tool";
      readonly tool_call_id: string;
      readonly content: ChatContent;
      /** The tool failed. Only Anthropic's API reports this. */
      readonly isError?: boolean;
    };

/** The history as the client has it. Other fields are ignored. */
export const chatMessages: z.ZodType<readonly ChatMessage[]> = z.array(message).min(1).max(10_000);

/** Returns the text of a content; throws if it contains anything else. */
export function joinMessageText(given: ChatContent, where: string): string {
  if (typeof given === "string") return given;
  return given
    .map((each) => {
      if (each.type === "text") return each.text;
      throw new AgentError("invalid_input", `${where} must be text.`);
    })
    .join("");
}
