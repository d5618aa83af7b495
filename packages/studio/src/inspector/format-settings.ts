import type { ModelSettings } from "capstan";

const labels: { readonly [Field in keyof ModelSettings]-?: string } = {
  effort: "effort",
  temperature: "temperature",
  topP: "top P",
  stop: "stop at",
  seed: "seed",
  maxOutputTokens: "max output tokens",
  toolChoice: "tool choice",
  parallelToolCalls: "parallel tool calls",
  serviceTier: "service tier",
  cache: "cache",
  logprobs: "log probabilities",
  extra: "extra",
};

/** Formats settings in one line: `effort high · temperature 0.7`. */
export function formatSettings(settings: ModelSettings): string {
  return Object.entries(settings)
    .map(([field, value]) => {
      const label = Object.hasOwn(labels, field) ? labels[field as keyof ModelSettings] : field;
      return `${label} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`;
    })
    .join(" · ");
}
