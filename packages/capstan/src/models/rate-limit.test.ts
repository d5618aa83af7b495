import { describe, expect, it } from "vitest";
import { AgentError } from "../base/errors.ts";
import { local } from "../engines/local.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Model, ModelRequest } from "../kernel/model.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { createRateLimiter, type RateLimits, withRateLimit } from "./rate-limit.ts";

const request: ModelRequest = {
  ...{ instructions: "", history: [], tools: [], toolChoice: "auto", thinking: false },
};
const createModel = (usage = { inputTokens: 10, outputTokens: 5 }) =>
  scriptedModel(() => ({ text: "Hi", usage }));

async function call(model: Model): Promise<"sent" | AgentError> {
  try {
    for await (const _ of model.stream(request, { signal: new AbortController().signal }));
    return "sent";
  } catch (thrown) {
    if (thrown instanceof AgentError) return thrown;
    throw thrown;
  }
}

/** Models in several processes on one store, and the times of the calls they sent. */
function createProcesses(count: number, limits: RateLimits) {
  const clock = fakeClock();
  const store = memory();
  const sentAt: number[] = [];
  const models = Array.from({ length: count }, () =>
    withRateLimit(createModel(), { store, clock, ...limits }),
  );
  const tryCall = async (model: Model): Promise<"sent" | AgentError> => {
    const outcome = await call(model);
    if (outcome === "sent") sentAt.push(clock.now());
    return outcome;
  };
  return { clock, store, models, sentAt, tryCall };
}

/** Returns the most calls in any minute. */
const findBusiest = (sentAt: readonly number[]) =>
  Math.max(...sentAt.map((start) => sentAt.filter((at) => at >= start && at < start + 60_000).length));

const countRoundTrips = (store: ReturnType<typeof memory>) => {
  let count = 0;
  const getRecord: typeof store.getRecord = (...where) => {
    count += 1;
    return store.getRecord(...where);
  };
  return { store: { ...store, getRecord }, count: () => count };
};

describe("withRateLimit", () => {
  it("sends as many calls per minute as the limit allows, in all processes together", async () => {
    const { clock, models, sentAt, tryCall } = createProcesses(3, { requests: { minute: 30 } });
    for (let second = 0; second < 240; second++) {
      for (const model of models) await tryCall(model);
      await clock.advance(1_000);
    }
    expect(findBusiest(sentAt)).toBe(30);
    expect(sentAt.length).toBeGreaterThan(4 * 30 * 0.9);
  });

  it("refuses a call beyond the limit before it is sent, and says when to try again", async () => {
    const { clock, models, tryCall } = createProcesses(1, { requests: { minute: 2 } });
    const [model] = models as [Model];
    expect([await tryCall(model), await tryCall(model)]).toEqual(["sent", "sent"]);
    const refused = (await tryCall(model)) as AgentError;
    expect(refused).toMatchObject({ code: "model_rate_limited", retryable: true });
    expect(refused.message).toBe(
      "The limit of 2 requests per minute, which all processes share, is reached. Another call is possible in 61 s.",
    );
    await clock.advance((refused.retryAfterMs ?? 0) - 1);
    expect(await tryCall(model)).toMatchObject({ code: "model_rate_limited" });
    await clock.advance(1_000);
    expect(await tryCall(model)).toBe("sent");
  });

  it("asks the store once for many calls", async () => {
    const clock = fakeClock();
    const { store, count } = countRoundTrips(memory());
    const model = withRateLimit(createModel(), { store, clock, requests: { minute: 1_000 } });
    for (let calls = 0; calls < 100; calls++) expect(await call(model)).toBe("sent");
    expect(count()).toBe(2);
  });

  it("refuses without asking the store while a limit is known to be reached", async () => {
    const clock = fakeClock();
    const { store, count } = countRoundTrips(memory());
    const model = withRateLimit(createModel(), { store, clock, requests: { minute: 1 } });
    for (let calls = 0; calls < 100; calls++) await call(model);
    expect(count()).toBe(2);
  });

  it("gives back what an idle process does not use", async () => {
    const { clock, models, tryCall } = createProcesses(2, { requests: { minute: 40 } });
    const [idle, busy] = models as [Model, Model];
    expect(await tryCall(idle)).toBe("sent"); // its slice has two
    let sent = 0;
    while ((await tryCall(busy)) === "sent") sent += 1;
    expect(sent).toBe(38);
    await clock.advance(6_000);
    expect(await tryCall(busy)).toBe("sent");
  });

  it("counts the slice of a process that is gone as used, and only for a window", async () => {
    const { clock, store, models, tryCall } = createProcesses(1, { requests: { minute: 40 } });
    const goneClock = fakeClock(); // its timers never fire
    const gone = withRateLimit(createModel(), { store, clock: goneClock, requests: { minute: 40 } });
    await call(gone);
    const [model] = models as [Model];
    const sendAll = async () => {
      let sent = 0;
      while ((await tryCall(model)) === "sent") sent += 1;
      return sent;
    };
    await clock.advance(10_000);
    expect(await sendAll()).toBe(38);
    await clock.advance(120_000);
    expect(await sendAll()).toBe(40);
  });

  it("reserves an estimate of the tokens, and counts the ones that were used", async () => {
    const { clock, store } = createProcesses(0, {});
    const limits = { store, clock, tokens: { minute: 3_000 } };
    const small = withRateLimit(createModel({ inputTokens: 400, outputTokens: 100 }), limits);
    for (let calls = 0; calls < 5; calls++) expect(await call(small)).toBe("sent");
    // 2,500 are used: the next call might need 1,000.
    expect(await call(small)).toMatchObject({
      code: "model_rate_limited",
      message: expect.stringContaining("3000 tokens per minute"),
    });
    await clock.advance(62_000);
    const large = withRateLimit(createModel({ inputTokens: 9_000, outputTokens: 0 }), limits);
    expect(await call(large)).toBe("sent");
    await clock.advance(0);
    expect(await call(small)).toMatchObject({ code: "model_rate_limited" });
  });

  it("sends a call that is larger than the whole limit when nothing else was sent", async () => {
    const { clock, store } = createProcesses(0, {});
    const model = withRateLimit(createModel(), { store, clock, tokens: { minute: 50 } });
    expect(await call(model)).toBe("sent");
    expect(await call(model)).toMatchObject({ code: "model_rate_limited" });
    await clock.advance(62_000);
    expect(await call(model)).toBe("sent");
  });

  it("applies every window: a day's limit holds after a minute's is free again", async () => {
    const { clock, models, tryCall } = createProcesses(1, { requests: { minute: 2, day: 3 } });
    const [model] = models as [Model];
    const outcomes = [];
    for (let minute = 0; minute < 4; minute++) {
      outcomes.push((await tryCall(model)) === "sent");
      await clock.advance(62_000);
    }
    expect(outcomes).toEqual([true, true, true, false]);
    await clock.advance(2 * 86_400_000);
    expect(await tryCall(model)).toBe("sent");
  });

  it("separates accounts, and stores nothing of a key", async () => {
    const { clock, store } = createProcesses(0, {});
    const limits = { store, clock, requests: { minute: 1 } };
    const [first, second] = ["sk-first-secret", "sk-second-secret"].map((key) =>
      withRateLimit(createModel(), { ...limits, key }),
    ) as [Model, Model];
    expect([await call(first), await call(second)]).toEqual(["sent", "sent"]);
    const refused = (await call(first)) as AgentError;
    const records = await store.listRecords("rate_limit");
    expect(records).toHaveLength(2);
    expect(JSON.stringify([records, refused.message])).not.toMatch(/sk-|secret/);
  });

  it("sends nothing while its store cannot be read", async () => {
    const store = { ...memory(), getRecord: () => Promise.reject(new AgentError("store_failed", "Down.")) };
    const model = createModel();
    const limited = withRateLimit(model, { store, clock: fakeClock(), requests: { minute: 5 } });
    expect(await call(limited)).toMatchObject({ code: "model_rate_limited", retryAfterMs: 1_000 });
    expect(model.requests).toHaveLength(0);
  });

  it.each([
    [{}, "needs `requests` or `tokens`"],
    [{ requests: {} }, "needs `requests` or `tokens`"],
    [
      { requests: { minut: 5 } },
      'Unknown window "minut" of the rate limit "requests". Did you mean "minute"?',
    ],
    [{ tokens: { minute: 0 } }, 'Invalid rate limit "tokens per minute": 0.'],
    [{ tokens: { minute: "many" } }, "Use a whole number above 0."],
    [{ requests: 5 }, 'The rate limit "requests" needs a window'],
  ])("refuses invalid limits: %j", (limits, message) => {
    const create = () => createRateLimiter({ store: memory(), key: "a", ...(limits as RateLimits) });
    expect(create).toThrow(message);
  });

  it("makes runs wait: all of them end, and none fails", async () => {
    const clock = fakeClock();
    const store = memory();
    const sentAt: number[] = [];
    const model = scriptedModel(() => {
      sentAt.push(clock.now());
      return { text: "Done." };
    });
    const limited = withRateLimit(model, { store, clock, requests: { minute: 5 } });
    const agent = defineAgent({ name: "a", model: limited });
    const engine = local({ store, agents: agent, clock, getResumeOptions: () => ({ clock }) });
    const runs = Array.from({ length: 20 }, (_, n) => engine.run(agent, "Go", { clock, session: `s${n}` }));
    const ids = runs.map(({ id }) => id);
    const countEnded = async () => {
      const found = await Promise.all(ids.map((id) => store.findRun(id)));
      return found.filter((info) => info?.state === "ended").length;
    };
    for (let minutes = 0; minutes < 60 && (await countEnded()) < 20; minutes += 0.5)
      await clock.advance(30_000);
    const results = await Promise.all(ids.map((id) => engine.getResult(id)));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["done"]));
    expect(findBusiest(sentAt)).toBeLessThanOrEqual(5);
    await engine.close();
  });

  it("lets the next model of a list answer at once", async () => {
    const { clock, store } = createProcesses(0, {});
    const limited = withRateLimit(createModel(), { store, clock, requests: { minute: 1 } });
    const other = scriptedModel(() => ({ text: "From the other." }));
    const agent = defineAgent({ name: "a", model: [limited, other] });
    const options = { clock: fakeClock({ skipUpToMs: 10_000 }) };
    await run(agent, "Hi", options);
    expect((await run(agent, "Hi", options)).text).toBe("From the other.");
  });
});
