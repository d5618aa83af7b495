import { run } from "capstan";
import { offline } from "capstan/models/offline";
import { fakeClock, scriptedModel } from "capstan/testing";
import { describe, expect, it } from "vitest";
import { about, knowledge } from "./agent.ts";
import { createLibrary } from "./library/library.ts";
import { policy } from "./searcher.ts";

const library = createLibrary({ indexFolder: false });

describe("the agents of knowledge search", () => {
  it("have the policy of a search assistant (C-01, C-02, C-03, C-04, C-24)", () => {
    expect(policy).toEqual({
      maxTurns: 10,
      wrapUpAt: 0,
      finalTurn: "keep-tools",
      onLimit: ["fallback-tool", "best-effort"],
      toolExecution: "parallel",
      retry: { maxAttempts: 1 },
      onAllToolsFailed: "continue",
      maxToolResultSize: 16_000,
      memory: "session",
      requireToolFirst: "auto",
      summaries: true,
    });
  });

  it("are a main agent and two handoff targets, all with the same fallback", async () => {
    const agents = await knowledge({ model: offline(), library });
    expect(agents.map(({ name }) => name)).toEqual(["knowledge", "research-agent", "people-agent"]);
    expect(agents[0].handoffs?.()).toEqual(agents.slice(1));
    expect(agents.map(({ fallbackTool }) => fallbackTool?.name)).toEqual([
      "fall_back",
      "fall_back",
      "fall_back",
    ]);
    expect(about.suggestions).toHaveLength(4);
  });

  it("receive the date, identity, the rule to search first, how to proceed, tools, and specialists, in this order (S3-03, S3-04, S3-05, S3-07, S3-43)", async () => {
    const model = scriptedModel([
      { calls: [{ name: "search_knowledge_base", input: { query: "hono" } }] },
      { text: "A framework [1]." },
    ]);
    const [agent] = await knowledge({ model, summaryModel: offline(), library });
    await run(agent, "What is hono?", { clock: fakeClock(), timeZone: "UTC" });
    const [first = "", second = ""] = model.requests.map(({ instructions }) => instructions);
    const sections = [
      "It is Thursday",
      "You are a search assistant",
      "- Your first action must be a tool call",
      "How to proceed:\n1. Work out which information",
      "Tools:\n- search_knowledge_base:",
      "Agents you can hand off to with the tool handoff:\n- research-agent: Compares",
      "Citations:",
    ];
    const places = sections.map((section) => first.indexOf(section));
    expect(places).toEqual(places.toSorted((left, right) => left - right));
    expect(places[0]).toBe(0);
    expect(second).toBe(first);
  });

  it("plan internally, or with a visible list (S3-43, S3-44)", async () => {
    const [plain] = await knowledge({ model: offline(), library });
    const [planner] = await knowledge({ model: offline(), library, plan: true });
    expect([plain.tools.has("plan"), planner.tools.has("plan")]).toEqual([false, true]);
  });

  it("are not created for a folder that does not exist", async () => {
    const locations = ["no-such-folder"];
    await expect(knowledge({ model: offline(), locations })).rejects.toThrow(
      /Cannot search "no-such-folder"/,
    );
  });
});
