// The five apps, each in the middle of a conversation with the offline model, as the docs show them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerOptions } from "@capstan/server";
import { type Client, createClient } from "capstan/client";
import type { DemoView } from "../packages/studio/src/testing/demo/demo-views.ts";

/** The server of the apps, and what to show of it when it listens. */
export type AppWorld = {
  readonly options: ServerOptions;
  views(url: string): Promise<readonly DemoView[]>;
  close(): Promise<void>;
};

const told = [
  { agent: "airport", says: ["Directions from the Terminal 2 checkpoint to D15"], shows: "Gate D15" },
  { agent: "files", says: ["Add a docstring to greet in example.py"], shows: "edit_file" },
  { agent: "graph", says: ["Find all cats and make them blue"], shows: "Whiskers" },
  { agent: "knowledge", says: ["Summarize recent emails about budget"], shows: "budget" },
  { agent: "bridge", says: ["How many miles are 42 km?"], shows: "miles" },
] as const;

/** With a data folder of its own, so that nobody's own data are in a picture. */
export async function createAppWorld(): Promise<AppWorld> {
  const home = mkdtempSync(join(tmpdir(), "capstan-apps-"));
  process.env.CAPSTAN_HOME = home;
  process.env.CAPSTAN_MODEL = "offline/rules";
  const { default: config } = await import("../apps/capstan.config.ts");
  return {
    options: {
      agents: config.agents ?? [],
      ...(config.about && { about: config.about }),
    },
    async views(url) {
      const client = createClient({ baseURL: url });
      const sessions: DemoView[] = [];
      for (const { agent, says, shows } of told) {
        const sessionId = await runConversation(client, agent, says);
        sessions.push(createView(agent, sessionId, shows));
      }
      return [firstScreen, ...sessions];
    },
    async close() {
      await config.close?.();
      rmSync(home, { recursive: true });
    },
  };
}

async function runConversation(client: Client, agent: string, says: readonly string[]): Promise<string> {
  let sessionId: string | undefined;
  for (const input of says) {
    const started = await client.runs.start({ agent, input, ...(sessionId !== undefined && { sessionId }) });
    sessionId = started.sessionId;
    for await (const event of client.runs.events(started.runId, { untilRest: true })) void event;
  }
  return sessionId ?? "";
}

const firstScreen: DemoView = {
  name: "apps",
  path: "/",
  variants: [
    { theme: "light", size: "desktop" },
    { theme: "dark", size: "phone" },
  ],
  prepare: async (page) => page.getByRole("region", { name: "Agents" }).getByText("MCP bridge").waitFor(),
};

const createView = (agent: string, sessionId: string, shows: string): DemoView => ({
  name: `app-${agent}`,
  path: `/sessions/${sessionId}`,
  variants: [{ theme: agent === "graph" ? "dark" : "light", size: "desktop" }],
  async prepare(page) {
    await page.getByRole("region", { name: "Conversation" }).getByText(shows).first().waitFor();
    await page.waitForTimeout(2500); // wait for the flash to end
  },
});
