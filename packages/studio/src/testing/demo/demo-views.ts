import type { Page } from "playwright-core";
import type { sizes } from "../launch-browser.ts";
import type { Demo } from "./demo-world.ts";

type Size = keyof typeof sizes;
type Look = { readonly theme: "light" | "dark"; readonly size: Size };

/** A view of the studio: how to come to it, and how the docs show it. */
export type DemoView = {
  readonly name: string;
  readonly path: string;
  readonly looks: readonly Look[];
  /** What of the page the docs show; all of it when left out. */
  readonly part?: string;
  readonly prepare: (page: Page, size: Size) => Promise<void>;
};

const light: Look = { theme: "light", size: "desktop" };
const dark: Look = { theme: "dark", size: "desktop" };
const phone: Look = { theme: "light", size: "phone" };
const darkPhone: Look = { theme: "dark", size: "phone" };

const conversation = (page: Page) => page.getByRole("region", { name: "Conversation" });
const at = (id: string) => `/sessions/${id}`;

/** Waits until a text is there, and brings it into view. */
function showing(text: string | RegExp) {
  return async (page: Page): Promise<void> => {
    await conversation(page).getByText(text).first().waitFor({ state: "attached" });
    await page.waitForTimeout(500); // widgets come a moment later
  };
}

/** With the call of this name in the middle. */
function atCall(name: string) {
  return async (page: Page): Promise<void> => {
    const call = page.locator("[data-call]").filter({ hasText: name }).first();
    await call.waitFor({ state: "attached" });
    await page.waitForTimeout(name === "style_nodes" ? 3000 : 600); // what has changed flashes
    await call.evaluate((element) => element.scrollIntoView({ block: "start" }));
    await page.waitForTimeout(300);
  };
}

function inspector(tab: string) {
  return async (page: Page, size: Size): Promise<void> => {
    await conversation(page).waitFor();
    if (tab === "Timeline" && size === "desktop") await page.keyboard.press("Control+b"); // more room for both
    await page.keyboard.press("Control+i");
    await page.getByRole("tab", { name: tab }).click();
    await page.waitForTimeout(700);
  };
}

const page = (heading: string) => async (shown: Page) => {
  await shown.getByRole("heading", { name: heading, level: 1 }).waitFor();
  await shown.waitForTimeout(500);
};

/** Every view, in the order of a tour. */
export function demoViews({ ids, runs }: Demo): readonly DemoView[] {
  return [
    {
      name: "new-chat",
      path: "/",
      looks: [light, phone],
      prepare: async (shown) =>
        shown
          .getByRole("button", { name: /^How late are/ })
          .first()
          .waitFor(),
    },
    { name: "chat", path: at(ids.map), looks: [light, dark, phone], prepare: showing("Café Anker") },
    {
      name: "chat-answer",
      path: at(ids.knowledge),
      looks: [light, darkPhone],
      prepare: showing("Both keep a time"),
    },
    {
      name: "chat-source",
      path: at(ids.knowledge),
      looks: [light],
      async prepare(shown) {
        await shown
          .getByRole("button", { name: /^Source 1/ })
          .last()
          .click();
        await shown.getByRole("dialog").waitFor();
      },
    },
    {
      name: "tool-open",
      path: at(ids.knowledge),
      looks: [light],
      async prepare(shown) {
        await shown
          .getByRole("button", { name: /^ask_researcher/ })
          .first()
          .click();
        await atCall("ask_researcher")(shown);
      },
    },
    {
      name: "approval",
      path: at(ids.approval),
      looks: [light, dark, phone],
      prepare: async (shown) => shown.locator("[data-approval]").waitFor(),
    },
    { name: "limit", path: at(ids.limit), looks: [light], prepare: showing(/treaty/) },
    { name: "widget-map", path: at(ids.map), looks: [light], prepare: atCall("show_directions") },
    { name: "widget-graph", path: at(ids.graph), looks: [dark], prepare: atCall("style_nodes") },
    { name: "widget-table", path: at(ids.table), looks: [light], prepare: atCall("departures") },
    { name: "widget-chart", path: at(ids.chart), looks: [light], prepare: atCall("waiting_times") },
    { name: "widget-bars", path: at(ids.bars), looks: [dark], prepare: atCall("passengers") },
    { name: "widget-diff", path: at(ids.diff), looks: [light], prepare: atCall("edit_file") },
    { name: "widget-sources", path: at(ids.knowledge), looks: [light], prepare: atCall("search_docs") },
    ...["Timeline", "Reasoning", "Messages", "Prompt", "Events", "Policy"].map((tab) => ({
      name: `inspector-${tab.toLowerCase()}`,
      path: at(ids.knowledge),
      looks: tab === "Timeline" ? [light, dark, phone] : [light],
      ...(tab !== "Timeline" && { part: 'aside[aria-label="Inspector"]' }),
      prepare: inspector(tab),
    })),
    ...timeViews({ ids, runs }),
    ...pageViews(),
  ];
}

function timeViews({ ids, runs: [left, right] }: Pick<Demo, "ids" | "runs">): readonly DemoView[] {
  return [
    {
      name: "replay",
      path: `${at(ids.map)}/replay`,
      looks: [light],
      async prepare(shown) {
        const slider = shown.getByRole("slider").first();
        await slider.waitFor();
        for (let step = 0; step < 12; step++) await slider.press("ArrowLeft");
        await shown.waitForTimeout(600);
      },
    },
    {
      name: "compare",
      path: `/compare/${left}/${right}`,
      looks: [light],
      prepare: async (shown) => shown.waitForTimeout(1500),
    },
    {
      name: "palette",
      path: at(ids.map),
      looks: [light, dark],
      async prepare(shown) {
        await conversation(shown).waitFor();
        await shown.keyboard.press("Control+k");
        await shown.getByRole("combobox", { name: "Find" }).fill("gate");
        await shown.waitForTimeout(700);
      },
    },
    {
      name: "help",
      path: at(ids.map),
      looks: [light],
      async prepare(shown) {
        await conversation(shown).waitFor();
        await conversation(shown).focus();
        await shown.keyboard.press("?");
        await shown.getByRole("dialog").waitFor();
      },
    },
  ];
}

function pageViews(): readonly DemoView[] {
  return [
    { name: "sessions", path: "/sessions", looks: [light, phone], prepare: page("Sessions") },
    { name: "agents", path: "/agents", looks: [light], prepare: page("Agents") },
    { name: "mcp", path: "/mcp-servers", looks: [light], prepare: page("MCP servers") },
    { name: "models", path: "/models", looks: [light], prepare: page("Models") },
    { name: "settings", path: "/settings", looks: [light], prepare: page("Settings") },
    {
      name: "list",
      path: "/sessions/ses_map",
      looks: [darkPhone],
      async prepare(shown, size) {
        await conversation(shown).waitFor();
        if (size === "phone") await shown.keyboard.press("Control+b");
        await shown.waitForTimeout(300);
      },
    },
  ];
}
