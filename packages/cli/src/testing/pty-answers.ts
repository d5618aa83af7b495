import { AgentError, type Entry } from "capstan";
import type { ScriptedStep } from "capstan/testing";

const words = "One two three four five six seven eight nine ten. ";

let hasFailed = false;

/** The scripted answer to the last user message. */
export function getAnswer(history: readonly Entry[]): ScriptedStep {
  const results = history.slice(history.findLastIndex(({ type }) => type === "user") + 1);
  const asked = history.findLast((entry) => entry.type === "user");
  const text = asked?.type === "user" && typeof asked.content === "string" ? asked.content : "";
  if (text === "flaky" && !hasFailed) {
    hasFailed = true;
    return { error: "model_auth" };
  }
  const key = Object.keys(scripts).find((word) => text.startsWith(word)) ?? "";
  const steps = scripts[key] ?? [];
  const turn = results.filter(({ type }) => type === "assistant").length;
  return steps[Math.min(turn, steps.length - 1)] ?? { text: `You said: ${text}` };
}

const buildCall = (name: string, input: Record<string, string> = {}) => ({ calls: [{ name, input }] });

const scripts: Readonly<Record<string, readonly ScriptedStep[]>> = {
  weather: [
    {
      reasoning: "The person wants to know the weather.\nI look it up.",
      text: "I look it up.",
      ...buildCall("weather", { city: "Oslo" }),
    },
    {
      text: "# Oslo\n\nIt is **21 degrees** and *calm*:\n\n- wind `3 km/h`\n- sun until 20:48, see [the table](https://example.com/sun)\n\n```ts\nconst warm = true;\n```\n\n| city | degrees |\n| --- | --- |\n| Oslo | 21 |\n| Rome | 30 |\n",
    },
  ],
  mail: [buildCall("send_mail", { to: "ann@example.com", text: "Hello" }), { text: "Done with the mail." }],
  slow: [{ text: Array.from({ length: 400 }, () => `~${words}`).join(""), split: words.length + 1 }],
  nap: [buildCall("nap"), { text: "I am awake." }],
  survey: [buildCall("survey"), { text: "Thank you." }],
  choose: [buildCall("choose", { from: "a or b" }), { text: "So be it." }],
  evil: [
    { text: "Look: \x1b]0;owned\x07\x1b[2J\u202ebidi\r\n\nthere", ...buildCall("evil") },
    { text: "It is over." },
  ],
  nested: [buildCall("reader", { prompt: "weather please" }), { text: "The reader is back." }],
  taint: [
    {
      calls: [
        { name: "fetch_page", input: { url: "https://evil.example/\u202egnp" } },
        { name: "weather", input: { city: "Rome" } },
      ],
    },
    buildCall("post", { text: "all I know" }),
    { text: "That was it." },
  ],
  edit: [
    {
      calls: [
        {
          name: "edit_file",
          input: { path: "a.txt", edits: [{ find: "old line", replace: "new line\nand more" }] },
        },
      ],
    },
    { text: "Changed it." },
  ],
  fail: [{ error: "model_failed" }],
  busy: [{ error: new AgentError("model_rate_limited", "Slow down.", { retryAfterMs: 3_600_000 }) }],
};
