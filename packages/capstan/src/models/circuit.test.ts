import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { AgentError, type ErrorCode } from "../base/errors.ts";
import { defineAgent } from "../kernel/agent.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { buildCircuitKey, getCircuit } from "./circuit.ts";
import { compatible } from "./compatible.ts";
import { createHttpModel } from "./http-model.ts";
import { openAiChat } from "./openai-chat.ts";

let keys = 0;

/** A breaker of its own, on a time of its own; each request makes its own view of it. */
function breaker() {
  let ms = 0;
  keys += 1;
  const key = `test ${keys}`;
  const attempt = () => getCircuit(key, { name: "acme/one", now: () => ms });
  const fail = (code: ErrorCode = "model_overloaded") => {
    const view = attempt();
    view.admit();
    view.recordFailure(new AgentError(code, "No."));
  };
  const isOpen = () => {
    try {
      attempt().admit();
      return false;
    } catch {
      return true;
    }
  };
  return {
    attempt,
    fail,
    isOpen,
    failTimes: (times: number, code?: ErrorCode) => {
      for (let count = 0; count < times; count += 1) fail(code);
    },
    pass: (waitMs: number) => {
      ms += waitMs;
    },
  };
}

describe("a circuit", () => {
  it("opens after five failures in a row, and reports for how long (F39)", () => {
    const { failTimes, isOpen, attempt, pass } = breaker();
    failTimes(4);
    expect(isOpen()).toBe(false);
    failTimes(1);
    pass(100);
    expect(() => attempt().admit()).toThrow(
      expect.objectContaining({
        code: "model_overloaded",
        retryable: true,
        message: "acme/one failed 5 times in a row. No requests are sent for another 1 s.",
        retryAfterMs: 900,
      }),
    );
  });

  it.each<ErrorCode>([
    "model_unreachable",
    "model_overloaded",
    "model_timeout",
    "stream_truncated",
    "model_rate_limited",
  ])("counts %s", (code) => {
    const { failTimes, isOpen } = breaker();
    failTimes(5, code);
    expect(isOpen()).toBe(true);
  });

  it.each<ErrorCode>([
    "model_auth",
    "model_rejected",
    "model_not_found",
    "context_overflow",
  ])("does not count %s: the provider answered", (code) => {
    const { failTimes, isOpen } = breaker();
    failTimes(10, code);
    expect(isOpen()).toBe(false);
    failTimes(4);
    failTimes(1, code);
    failTimes(4);
    expect(isOpen()).toBe(false);
  });

  it("starts counting again after a success", () => {
    const { failTimes, isOpen, attempt } = breaker();
    failTimes(4);
    attempt().recordSuccess();
    failTimes(4);
    expect(isOpen()).toBe(false);
  });

  it("lets one probe through when its time is over; its success closes it", () => {
    const { failTimes, isOpen, attempt, pass } = breaker();
    failTimes(5);
    pass(999);
    expect(isOpen()).toBe(true);
    pass(1);
    const probe = attempt();
    probe.admit();
    expect(isOpen()).toBe(true);
    probe.recordSuccess();
    expect(isOpen()).toBe(false);
    failTimes(4);
    expect(isOpen()).toBe(false);
  });

  it("opens for twice as long after each probe that fails, up to 20 seconds", () => {
    const { failTimes, fail, isOpen, pass } = breaker();
    failTimes(5);
    pass(1000);
    for (const openMs of [2000, 4000, 8000, 16_000, 20_000, 20_000]) {
      fail();
      pass(openMs - 1);
      expect(isOpen()).toBe(true);
      pass(1);
    }
    expect(isOpen()).toBe(false);
  });

  it("stays open as long as the provider asks for, up to 20 seconds", () => {
    for (const [retryAfterMs, openMs] of [
      [500, 1000],
      [7000, 7000],
      [3_600_000, 20_000],
    ] as const) {
      const { failTimes, isOpen, attempt, pass } = breaker();
      failTimes(4);
      attempt().recordFailure({ code: "model_rate_limited", retryAfterMs });
      pass(openMs - 1);
      expect(isOpen()).toBe(true);
      pass(1);
      expect(isOpen()).toBe(false);
    }
  });

  it("does not stay open longer because of requests in flight when it opened", () => {
    const { failTimes, isOpen, attempt, pass } = breaker();
    const late = Array.from({ length: 50 }, attempt);
    for (const view of late) view.admit();
    failTimes(5);
    pass(900);
    for (const view of late) view.recordFailure({ code: "model_timeout" });
    pass(100);
    expect(isOpen()).toBe(false);
  });

  it("allows another probe when one never reports", () => {
    const { failTimes, isOpen, attempt, pass } = breaker();
    failTimes(5);
    pass(1000);
    attempt().admit();
    pass(999);
    expect(isOpen()).toBe(true);
    pass(1);
    expect(isOpen()).toBe(false);
  });
});

describe("a circuit that closes after an outage", () => {
  /** A circuit whose probe has just succeeded. */
  function recover() {
    const circuit = breaker();
    circuit.failTimes(5);
    circuit.pass(1000);
    const probe = circuit.attempt();
    probe.admit();
    const late = circuit.attempt();
    probe.recordSuccess();
    return { ...circuit, late };
  }

  it("lets calls continue at 50 per second, and asks others to come back", () => {
    const { attempt } = recover();
    const waits = Array.from({ length: 250 }, () => attempt().admit());
    expect(waits).toEqual(Array.from({ length: 250 }, (_, index) => (index + 1) * 20));
    expect(() => attempt().admit()).toThrow(
      expect.objectContaining({ code: "model_overloaded", retryable: true, retryAfterMs: 5010 }),
    );
  });

  it("doubles the rate every five seconds and has no limit after half a minute", () => {
    const { attempt, pass } = recover();
    pass(5000);
    expect([attempt().admit(), attempt().admit(), attempt().admit()]).toEqual([0, 10, 20]);
    pass(25_001);
    attempt().recordSuccess();
    expect(Array.from({ length: 3 }, () => attempt().admit())).toEqual([0, 0, 0]);
  });

  it("is not opened again by requests of the outage that fail late", () => {
    const { attempt, isOpen, late, failTimes } = recover();
    for (let count = 0; count < 10; count++) late.recordFailure({ code: "model_timeout" });
    expect(isOpen()).toBe(false);
    attempt().recordSuccess();
    failTimes(5);
    expect(isOpen()).toBe(true);
  });
});

describe("the key of a circuit", () => {
  const place = {
    url: "https://acme.test/v1/chat",
    id: "acme/one",
    headers: { authorization: "Bearer sk-one" },
  };

  it("distinguishes hosts, models, accounts and networks, and contains no key", () => {
    const apart = [
      place,
      { ...place, url: "https://other.test/v1/chat" },
      { ...place, id: "acme/two" },
      { ...place, headers: { Authorization: "Bearer sk-two" } },
      { ...place, headers: { "x-api-key": "sk-three" } },
      { ...place, fetch: async () => new Response() },
      { ...place, fetch: async () => new Response() },
    ].map(buildCircuitKey);
    expect(new Set(apart).size).toBe(apart.length);
    expect(apart.join()).not.toMatch(/sk-|Bearer/);
  });

  it("is the same for the same host, model and account", () => {
    const traced = { ...place, headers: { ...place.headers, traceparent: "00-1" } };
    expect(buildCircuitKey(traced)).toBe(buildCircuitKey({ ...place, url: "https://acme.test/v1/other" }));
  });
});

const servers: ReturnType<typeof createServer>[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Takes every connection and breaks it, until it is told to answer. */
async function deadServer() {
  const server = createServer((_request, response) => {
    state.requests += 1;
    if (!state.isUp) response.destroy();
    else {
      const choice = { index: 0, delta: { content: "Back." }, finish_reason: "stop" };
      response.end(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`);
    }
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const state = {
    requests: 0,
    isUp: false,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
  return state;
}

describe("a provider that is down", () => {
  const agentOn = (url: string, name: string) =>
    defineAgent({
      name,
      model: compatible({
        baseURL: url,
        model: name,
        apiKey: "sk-test-1234567890",
        circuit: { now: () => 0 },
      }),
      instructions: "Answer.",
    });
  const asked = (agent: ReturnType<typeof agentOn>, index: number) =>
    run(agent, "Hello?", {
      store: memory(),
      session: `s${index}`,
      runId: `r${index}`,
      clock: fakeClock({ skipUpToMs: 59_000 }),
      policy: { modelRetry: { patienceMs: 0 } },
    });

  it("gets five requests from 500 consecutive runs (F39)", async () => {
    const dead = await deadServer();
    const agent = agentOn(dead.url, "row");
    for (let index = 0; index < 500; index += 1) {
      const { status } = await asked(agent, index);
      expect(status).toBe("failed");
    }
    expect(dead.requests).toBeLessThanOrEqual(5 + 3);
  });

  it("gets hardly more requests than runs when 500 start at once, including retries (F39)", async () => {
    const dead = await deadServer();
    const agent = agentOn(dead.url, "storm");
    await Promise.all(Array.from({ length: 500 }, (_, index) => asked(agent, index)));
    expect(dead.requests).toBeLessThanOrEqual(1.2 * 500);
  });

  it("fails no run that starts after its return, although the circuit is still open", async () => {
    const dead = await deadServer();
    const clock = fakeClock({ skipUpToMs: 59_000 });
    const model = compatible({ baseURL: dead.url, model: "returning", apiKey: "sk-test-1234567890", clock });
    const agent = defineAgent({ name: "returning", model });
    const impatient = { modelRetry: { patienceMs: 0 } };
    for (let count = 0; count < 2; count += 1)
      expect(await run(agent, "Hello?", { store: memory(), clock, policy: impatient })).toMatchObject({
        status: "failed",
      });
    expect(dead.requests).toBe(5);
    dead.isUp = true;
    expect(await run(agent, "Hello?", { store: memory(), clock })).toMatchObject({ text: "Back." });
    expect(dead.requests).toBe(6);
  });

  it("is found again by one probe, and can be called without a circuit", async () => {
    const dead = await deadServer();
    let ms = 0;
    const model = (withCircuit: boolean) =>
      createHttpModel({
        id: "acme/back",
        wire: openAiChat,
        settings: { model: "back" },
        url: () => dead.url,
        headers: () => ({ authorization: "Bearer sk-test-1234567890" }),
        circuit: withCircuit && { now: () => ms },
      });
    const ask = async (withCircuit = true) => {
      let text = "";
      const request = {
        instructions: "",
        history: [{ type: "user", content: "Hello?" } as const],
        tools: [],
        toolChoice: "none",
        thinking: false,
      } as const;
      const { signal } = new AbortController();
      try {
        for await (const batch of model(withCircuit).stream(request, { signal }))
          for (const chunk of batch) if (chunk.type === "text") text += chunk.text;
        return text;
      } catch (error) {
        return (error as AgentError).code;
      }
    };
    for (let count = 0; count < 5; count += 1) expect(await ask()).toBe("model_unreachable");
    expect(await ask()).toBe("model_overloaded");
    expect(dead.requests).toBe(5);
    expect(await ask(false)).toBe("model_unreachable");
    expect(dead.requests).toBe(6);
    dead.isUp = true;
    expect(await ask()).toBe("model_overloaded");
    ms += 30_000;
    expect(await ask()).toBe("Back.");
    expect(await ask()).toBe("Back.");
    expect(dead.requests).toBe(8);
  });
});
