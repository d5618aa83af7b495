import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { restartsMessage } from "../client/restarts-message.ts";
import { defineAgent } from "../kernel/agent.ts";
import { type Event, isFact } from "../kernel/event.ts";
import type { Model } from "../kernel/model.ts";
import type { PolicyOverrides } from "../kernel/policy.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "./collect.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import type { Encoder, Speech } from "./wire-encoders.ts";

/** One response of the server, and how it fails. */
type Answer = Speech & {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /**
   * `cut`: ends without the end event. `reset`: the connection breaks. `stall`: nothing more is sent. `restart`: a second
   * answer starts in the same stream, and is complete.
   */
  readonly fault?: "cut" | "half" | "reset" | "stall" | "junk" | "empty" | "overloaded" | "restart";
};

/** The contract of every provider client, over a real connection. `make` gets the URL of the server. */
export function modelSuite(name: string, encoder: Encoder, make: (baseURL: string) => Model): void {
  const runConversation = async (answers: readonly Answer[], policy: PolicyOverrides = {}) => {
    const clock = fakeClock({ skipUpToMs: 59_000 }); // retries cost no time, and no silence times out by itself
    const { url, requests } = await startProvider(encoder, answers, clock);
    const paid: number[] = [];
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      input: {
        type: "object",
        properties: { amount: { type: "integer" } },
        required: ["amount"],
        additionalProperties: false,
      },
      effects: "send",
      execute({ amount }) {
        paid.push(amount);
        return { paid: amount };
      },
    });
    const agent = defineAgent({
      name: "clerk",
      model: make(url),
      instructions: "Pay the bills.",
      tools: [pay],
      policy,
    });
    const { events, result } = await collect(
      run(agent, "Pay.", { store: memory(), session: "s", runId: "r", clock }),
    );
    return { paid, events, result, requests };
  };
  const call = (amount: number | string, id = "call_1") => ({
    id,
    name: "pay",
    arguments: `{"amount":${amount}}`,
  });
  const thanks: Answer = { text: "Thank you." };

  describe(`the client ${name}`, () => {
    it("runs an agent: text, parallel calls, results, an answer (S0-45)", async () => {
      const { paid, result, requests } = await runConversation([
        { text: "I will pay.", calls: [call(3, "call_a"), call(5, "call_b")] },
        thanks,
      ]);
      expect(paid).toEqual([3, 5]);
      expect(result).toMatchObject({
        status: "done",
        text: "Thank you.",
        turns: 2,
        usage: { inputTokens: 24, outputTokens: 14 },
      });
      expect(result.history).toMatchObject([
        { type: "user", content: "Pay." },
        {
          type: "assistant",
          parts: [
            { type: "text", text: "I will pay." },
            { type: "call", id: "call_a", name: "pay", input: { amount: 3 } },
            { type: "call", id: "call_b", name: "pay", input: { amount: 5 } },
          ],
        },
        { type: "result", callId: "call_a", status: "ok", content: '{"paid":3}' },
        { type: "result", callId: "call_b", status: "ok", content: '{"paid":5}' },
        { type: "assistant", parts: [{ type: "text", text: "Thank you." }] },
      ]);
      expect(requests).toHaveLength(2);
      for (const said of ["I will pay.", "call_a", "call_b"]) expect(requests[1]).toContain(said);
    });

    it.each<[string, Answer]>([
      ["a text that is cut off", { text: "I have pa", fault: "cut" }],
      ["arguments that are cut off", { calls: [call(10)], fault: "half" }],
      ["whole arguments without the end of the answer", { calls: [call(10)], fault: "cut" }],
      ["a connection that breaks", { calls: [call(10)], fault: "reset" }],
      ["silence in mid-answer", { calls: [call(10)], fault: "stall" }],
      ["a piece that is not JSON", { calls: [call(10)], fault: "junk" }],
      ["nothing at all", { fault: "empty" }],
      ["an error in mid-answer", { calls: [call(10)], fault: "overloaded" }],
      ["status 529", { status: 529 }],
    ])("retries after %s and runs no incomplete call (F04, F05, F09, F10, F13, F15, F16, F19, F20)", async (_what, broken) => {
      const { paid, result, requests, events } = await runConversation([
        broken,
        { calls: [call(7)] },
        thanks,
      ]);
      expect(paid).toEqual([7]);
      expect(result).toMatchObject({ status: "done", text: "Thank you." });
      expect(requests).toHaveLength(3);
      expect(events.filter((event) => event.type === "retry")).toHaveLength(1);
      expect(events.filter((event) => isFact(event) && event.type === "tool_call_start")).toHaveLength(1);
    });

    it.each<[string, Answer]>([
      ["a text", { text: "I have paid ten euros.", fault: "restart" }],
      ["a call", { calls: [call(10)], fault: "restart" }],
      ["a text and calls", { text: "I will pay.", calls: [call(10, "a"), call(11, "b")], fault: "restart" }],
    ])("refuses a second answer that starts in one stream after %s: nothing is run twice or mixed (F15)", async (_what, broken) => {
      const { paid, result, requests, events } = await runConversation([
        broken,
        { text: "Paying.", calls: [call(7)] },
        thanks,
      ]);
      expect(paid).toEqual([7]);
      expect(result).toMatchObject({ status: "done", text: "Thank you." });
      expect(requests).toHaveLength(3);
      expect(events.filter((event) => event.type === "retry")).toMatchObject([
        { code: "stream_inconsistent" },
      ]);
      expect(readTexts(events)).toEqual(["Paying.", "Thank you."]);
    });

    it.each(
      Object.entries(encoder.stopReasons),
    )("that stopped with %s: %s is never half an answer as `done` (F22, F23, F25)", async (reason, stopReason) => {
      const half: Answer = { text: "One half", reason };
      const { result, events, paid } = await runConversation([half, { text: " and another." }]);
      expect(paid).toEqual([]);
      const stopReasons = events.filter(
        (event) => event.type === "message" || event.type === "message_partial",
      );
      if (stopReason === "end" || stopReason === "tool_calls")
        expect(result).toMatchObject({ status: "done", text: "One half", stopReason });
      else if (stopReason === "length" || stopReason === "pause") {
        expect(stopReasons[0]).toMatchObject({ type: "message_partial", stopReason });
        expect(result).toMatchObject({ status: "done", text: "One half and another.", stopReason: "end" });
      } else if (stopReason === "other") {
        expect(events.find((event) => event.type === "retry")).toMatchObject({ code: "answer_incomplete" });
        expect(result).toMatchObject({ status: "done", text: "and another.", stopReason: "end" });
      } else
        expect(result).toMatchObject({
          ...{ status: "failed", text: "One half", stopReason },
          error: { code: "content_filter" },
        });
    });

    it.each(
      Object.entries(encoder.stopReasons).filter(([, reason]) => reason !== "end" && reason !== "tool_calls"),
    )("does not run a call of an answer that stopped with %s: %s (F22, F24, F25)", async (reason) => {
      const { paid, events } = await runConversation([{ calls: [call(10)], reason }, thanks]);
      expect(paid).toEqual([]);
      expect(events.some((event) => event.type === "tool_call_start")).toBe(false);
    });

    it("continues a text at the output limit, or stops and says so, as the policy says (F23)", async () => {
      const parts: Answer[] = [
        { text: "One part, ", finish: "length" },
        { text: "another part, ", finish: "length" },
        { text: "and the last." },
      ];
      const joined = await runConversation(parts);
      expect(joined.result).toMatchObject({ status: "done", text: "One part, another part, and the last." });
      expect(readTexts(joined.events)).toEqual(["One part, another part, and the last."]);
      const stopped = await runConversation(parts, { onOutputLimit: "stop" });
      expect(stopped.requests).toHaveLength(1);
      expect(stopped.result).toMatchObject({
        ...{ status: "limit", text: "One part,", stopReason: "length", error: { code: "output_truncated" } },
      });
    });

    it.each<[string, Answer, string]>([
      ["whole arguments at the output limit", { calls: [call(10)], finish: "length" }, "output_truncated"],
      [
        "half arguments at the output limit",
        { calls: [{ id: "c", name: "pay", arguments: '{"amount":1' }], finish: "length" },
        "output_truncated",
      ],
      ["a call that was filtered", { calls: [call(10)], finish: "content_filter" }, "content_filter"],
    ])("does not run %s, and reports why (F24, F25)", async (_what, answer, code) => {
      const { paid, result } = await runConversation([answer, answer]);
      expect(paid).toEqual([]);
      expect(result).toMatchObject({ status: "failed", error: { code } });
    });

    it("retries once with a higher output limit for a truncated call (F24)", async () => {
      const { paid, result, requests } = await runConversation([
        { calls: [call(10)], finish: "length" },
        { calls: [call(7)] },
        thanks,
      ]);
      expect(paid).toEqual([7]);
      expect(result.status).toBe("done");
      expect(requests.map((body) => body.includes("32000"))).toEqual([false, true, false]);
    });

    it("gives two calls with one id a result each, and runs a repeated call once (F28)", async () => {
      const two = await runConversation([{ calls: [call(3), call(4)] }, thanks]);
      expect(two.paid).toEqual([3, 4]);
      expect(new Set(two.result.toolCalls.map(({ id }) => id)).size).toBe(2);
      const same = await runConversation([{ calls: [call(3), call(3)] }, thanks]);
      expect(same.paid).toEqual([3]);
    });

    it.each([
      "pya",
      "toString",
      "__proto__",
    ])("tells the model that tool %s does not exist (F30, A117)", async (tool) => {
      const { paid, result } = await runConversation([
        { calls: [{ id: "c", name: tool, arguments: "{}" }] },
        thanks,
      ]);
      expect(paid).toEqual([]);
      expect(result).toMatchObject({ status: "done", toolCalls: [{ status: "error" }] });
    });

    it.each([401, 400, 404])("does not retry after status %i (F06, F07, F08)", async (status) => {
      const { result, requests } = await runConversation([{ status }, thanks]);
      expect(result.status).toBe("failed");
      expect(requests).toHaveLength(1);
    });
  });
}

/** Returns the text of each message as a reader of the deltas sees it. */
function readTexts(events: readonly Event[]): string[] {
  const texts: string[] = [];
  let text = "";
  for (const event of events) {
    if (restartsMessage(event)) text = "";
    else if (event.type === "content_delta") text += event.delta;
    else if (event.type === "message") texts.push(text);
  }
  return texts;
}

const servers: ReturnType<typeof createServer>[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Starts a server that sends one answer per request and records the requests. */
async function startProvider(
  encoder: Encoder,
  answers: readonly Answer[],
  clock: FakeClock,
): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((incoming, response) => {
    let body = "";
    incoming.setEncoding("utf8");
    incoming.on("data", (piece) => {
      body += piece;
    });
    incoming.on("end", () => {
      requests.push(body);
      const answer = answers[requests.length - 1] ?? { status: 400 };
      sendAnswer(encoder, answer, response);
      if (answer.fault === "stall") advanceUntilClosed(clock, response);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** Advances the clock by a minute at a time until the client, or the run on its behalf, closes the connection. */
function advanceUntilClosed(clock: FakeClock, response: ServerResponse): void {
  const minutes = setInterval(() => void clock.advance(60_000), 50);
  response.on("close", () => clearInterval(minutes));
}

function sendAnswer(encoder: Encoder, answer: Answer, response: ServerResponse): void {
  const { status = 200, headers, fault } = answer;
  if (status !== 200) {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { message: "No." } }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const { body, end } = encoder.encode(answer);
  if (fault === undefined) response.end(body + end);
  else if (fault === "empty") response.end();
  else if (fault === "cut") response.end(body);
  else if (fault === "half") response.end(body.slice(0, body.lastIndexOf("amount") + 12));
  else if (fault === "junk") response.end(`${body}data: {"half":\n\n${end}`);
  else if (fault === "overloaded") response.end(body + encoder.overloaded);
  else if (fault === "restart") {
    const second = encoder.encode({ ...answer, id: "2" });
    response.end(body + second.body + second.end);
  } else {
    response.write(body);
    if (fault === "reset") setTimeout(() => response.destroy(), 5);
  }
}
