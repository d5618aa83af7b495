import type { AgentProfile } from "@capstan/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildToolView } from "../../packages/server/src/views/agent-view.ts";
import { createAgentFinder } from "../../packages/studio/src/chat/find-fitting-agent.ts";
import { about as aboutAirport } from "../airport/agent.ts";
import { loadVenue } from "../airport/load-venue.ts";
import { listTopics as listVenueTopics } from "../airport/venue/list-topics.ts";
import { about as aboutFiles } from "../files/agent.ts";
import { about as aboutGraph } from "../graph/agent.ts";
import { pets } from "../graph/data/pets.ts";
import { listTopics as listGraphTopics } from "../graph/list-topics.ts";
import { about as aboutKnowledge } from "../knowledge/agent.ts";
import { fictionalMailbox } from "../knowledge/mailbox.ts";
import { about as aboutBridge } from "../mcp-bridge/agent.ts";
import { type Agents, startAgents } from "./agents.ts";
import { type GradedReply, grade } from "./grade.ts";
import { type App, apps, type Sentence } from "./sentence.ts";
import { sentences } from "./sentences.ts";

type GradedSentence = GradedReply & { readonly sentence: Sentence };

const all = apps.flatMap((app) => sentences[app].map((sentence) => ({ app, ...sentence })));
const graded = new Map<App, readonly GradedSentence[]>();
let agents: Agents;

beforeAll(async () => {
  agents = await startAgents();
});
afterAll(() => agents.close());

describe("first words without a key", () => {
  it("are 150 different sentences, 30 for each app, in at least five languages", () => {
    expect(apps.map((app) => sentences[app].length)).toEqual([30, 30, 30, 30, 30]);
    const keys = all.map(({ app, after = [], user }) => [app, ...after, user].join("\n").toLowerCase());
    expect(new Set(keys).size).toBe(150);
    expect(new Set(all.map(({ language }) => language)).size).toBeGreaterThanOrEqual(5);
  });

  it.each(apps)("are graded in the app %s", async (app) => {
    const results: GradedSentence[] = [];
    for (const sentence of sentences[app])
      results.push({ ...(await grade(await agents.create(app), sentence)), sentence });
    graded.set(app, results);
    expect(results).toHaveLength(30);
  });

  it("go to the app that they were written for, or to none rather than to a wrong one", async () => {
    const find = createAgentFinder(...(await describeApps(agents)));
    const first = all.filter(({ language, after, understood }) => language === "en" && !after && understood);
    const destinations = first.map(({ app, user }) => ({ app, user, chosen: find(user)?.agent }));
    const right = destinations.filter(({ app, chosen }) => chosen === app);
    const wrong = destinations.filter(({ app, chosen }) => chosen !== undefined && chosen !== app);
    expect(right.length / first.length).toBeGreaterThan(0.55);
    expect(wrong.length / first.length, JSON.stringify(wrong)).toBeLessThan(0.06);
  });

  it.runIf(process.env.CAPSTAN_FIRST_WORDS === "1")("are reported", () => {
    process.stdout.write(`${formatTable()}\n\n${formatWrong()}\n`);
  });
});

/** What the studio knows of the apps: their profiles and tools. */
async function describeApps(running: Agents): Promise<Parameters<typeof createAgentFinder>> {
  const profiles: Record<App, AgentProfile> = {
    airport: { ...aboutAirport, topics: listVenueTopics(await loadVenue()) },
    files: aboutFiles,
    graph: { ...aboutGraph, topics: listGraphTopics(pets) },
    knowledge: {
      ...aboutKnowledge,
      topics: fictionalMailbox.mails.map(({ from, subject }) => `${from} ${subject}`),
    },
    "mcp-bridge": aboutBridge,
  };
  const details = apps.map(async (app) => {
    const { tools, toolSource } = await running.create(app);
    return { name: app, tools: (toolSource?.() ?? [...tools.values()]).map(buildToolView) };
  });
  return [apps.map((app) => ({ name: app, ...profiles[app] })), await Promise.all(details)];
}

function formatTable(): string {
  const rows = [...graded, ["total", [...graded.values()].flat()] as const].map(([app, results]) => {
    const count = (kind: GradedReply["grade"]) => results.filter((result) => result.grade === kind).length;
    const english = results.filter(({ sentence }) => sentence.language === "en");
    const understood = english.filter((result) => result.grade === "understood").length;
    const counts = [count("understood"), count("asked"), count("declined"), count("wrong")];
    const shares = [formatShare(understood, english.length), formatShare(count("wrong"), results.length)];
    return `| ${[app, ...counts, ...shares].join(" | ")} |`;
  });
  const head = "| app | understood | asked | declined | wrong | understood (English) | wrong (all) |";
  return [head, "| --- | --- | --- | --- | --- | --- | --- |", ...rows].join("\n");
}

const formatShare = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`;

function formatWrong(): string {
  return [...graded]
    .flatMap(([app, results]) =>
      results
        .filter((result) => result.grade === "wrong")
        .map(({ sentence, text }) => {
          const conversation = [...(sentence.after ?? []), sentence.user].join(" / ");
          return `${app}: ${conversation}\n  → ${text.replace(/\s+/g, " ").slice(0, 200)}`;
        }),
    )
    .join("\n");
}
