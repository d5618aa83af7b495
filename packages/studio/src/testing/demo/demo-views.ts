import type { Page } from "playwright-core";
import type { sizes } from "../launch-browser.ts";
import type { Demo } from "./demo-world.ts";

type Size = keyof typeof sizes;
type Variant = { readonly theme: "light" | "dark"; readonly size: Size };

/** A screenshot of the studio. */
export type DemoView = {
  readonly name: string;
  readonly path: string;
  readonly variants: readonly Variant[];
  /** Selector of the part to capture. Defaults to the whole page. */
  readonly part?: string;
  readonly prepare: (page: Page, size: Size) => Promise<void>;
};

const light: Variant = { theme: "light", size: "desktop" };
const dark: Variant = { theme: "dark", size: "desktop" };
const phone: Variant = { theme: "light", size: "phone" };
const darkPhone: Variant = { theme: "dark", size: "phone" };

const getConversation = (page: Page) => page.getByRole("region", { name: "Conversation" });
const getSessionPath = (id: string) => `/sessions/${id}`;

/** Waits until a text is present. */
function waitForText(text: string | RegExp) {
  return async (page: Page): Promise<void> => {
    await getConversation(page).getByText(text).first().waitFor({ state: "attached" });
    await page.waitForTimeout(500); // widgets render later
  };
}

/** Scrolls to the call of a tool. */
function scrollToCall(name: string) {
  return async (page: Page): Promise<void> => {
    const call = page.locator("[data-call]").filter({ hasText: name }).first();
    await call.waitFor({ state: "attached" });
    await page.waitForTimeout(name === "style_nodes" ? 3000 : 600); // wait for the flash to end
    await call.evaluate((element) => element.scrollIntoView({ block: "start" }));
    await page.waitForTimeout(300);
  };
}

function openInspector(tab: string) {
  return async (page: Page, size: Size): Promise<void> => {
    await getConversation(page).waitFor();
    if (tab === "Timeline" && size === "desktop") await page.keyboard.press("Control+b"); // more space for both
    await page.keyboard.press("Control+i");
    await page.getByRole("tab", { name: tab }).click();
    await page.waitForTimeout(700);
  };
}

const waitForHeading = (heading: string) => async (browserPage: Page) => {
  await browserPage.getByRole("heading", { name: heading, level: 1 }).waitFor();
  await browserPage.waitForTimeout(500);
};

/** All screenshots, in the order of a tour. */
export function listDemoViews({ ids, runs }: Demo): readonly DemoView[] {
  return [
    {
      name: "new-chat",
      path: "/",
      variants: [light, phone],
      prepare: async (browserPage) =>
        browserPage
          .getByRole("button", { name: /^Directions from/ })
          .first()
          .waitFor(),
    },
    {
      name: "chat",
      path: getSessionPath(ids.map),
      variants: [light, dark, phone],
      prepare: waitForText("Café Anker"),
    },
    {
      name: "chat-answer",
      path: getSessionPath(ids.knowledge),
      variants: [light, darkPhone],
      prepare: waitForText("Both keep a time"),
    },
    {
      name: "chat-source",
      path: getSessionPath(ids.knowledge),
      variants: [light],
      async prepare(browserPage) {
        await browserPage
          .getByRole("button", { name: /^Source 1/ })
          .last()
          .click();
        await browserPage.getByRole("dialog").waitFor();
      },
    },
    {
      name: "tool-open",
      path: getSessionPath(ids.knowledge),
      variants: [light],
      async prepare(browserPage) {
        await browserPage
          .getByRole("button", { name: /^ask_researcher/ })
          .first()
          .click();
        await scrollToCall("ask_researcher")(browserPage);
      },
    },
    {
      name: "approval",
      path: getSessionPath(ids.approval),
      variants: [light, dark, phone],
      prepare: async (browserPage) => browserPage.locator("[data-approval]").waitFor(),
    },
    { name: "limit", path: getSessionPath(ids.limit), variants: [light], prepare: waitForText(/treaty/) },
    ...listWidgetViews(ids),
    ...["Timeline", "Reasoning", "Messages", "Prompt", "Events", "Policy"].map((tab) => ({
      name: `inspector-${tab.toLowerCase()}`,
      path: getSessionPath(ids.knowledge),
      variants: tab === "Timeline" ? [light, dark, phone] : [light],
      ...(tab !== "Timeline" && { part: 'aside[aria-label="Inspector"]' }),
      prepare: openInspector(tab),
    })),
    ...listReplayViews({ ids, runs }),
    ...listPageViews(),
  ];
}

function listWidgetViews(ids: Demo["ids"]): readonly DemoView[] {
  const widgets = [
    ["map", ids.map, light, "show_directions"],
    ["graph", ids.graph, dark, "style_nodes"],
    ["table", ids.table, light, "departures"],
    ["chart", ids.chart, light, "waiting_times"],
    ["bars", ids.bars, dark, "passengers"],
    ["diff", ids.diff, light, "edit_file"],
    ["sources", ids.knowledge, light, "search_docs"],
  ] as const;
  return widgets.map(([name, sessionId, variant, tool]) => ({
    name: `widget-${name}`,
    path: getSessionPath(sessionId),
    variants: [variant],
    prepare: scrollToCall(tool),
  }));
}

function listReplayViews({ ids, runs: [left, right] }: Pick<Demo, "ids" | "runs">): readonly DemoView[] {
  return [
    {
      name: "replay",
      path: `${getSessionPath(ids.map)}/replay`,
      variants: [light],
      async prepare(browserPage) {
        const slider = browserPage.getByRole("slider").first();
        await slider.waitFor();
        for (let step = 0; step < 12; step++) await slider.press("ArrowLeft");
        await browserPage.waitForTimeout(600);
      },
    },
    {
      name: "compare",
      path: `/compare/${left}/${right}`,
      variants: [light],
      prepare: async (browserPage) => browserPage.waitForTimeout(1500),
    },
    {
      name: "palette",
      path: getSessionPath(ids.map),
      variants: [light, dark],
      async prepare(browserPage) {
        await getConversation(browserPage).waitFor();
        await browserPage.keyboard.press("Control+k");
        await browserPage.getByRole("combobox", { name: "Find" }).fill("gate");
        await browserPage.waitForTimeout(700);
      },
    },
    {
      name: "help",
      path: getSessionPath(ids.map),
      variants: [light],
      async prepare(browserPage) {
        await getConversation(browserPage).waitFor();
        await getConversation(browserPage).focus();
        await browserPage.keyboard.press("?");
        await browserPage.getByRole("dialog").waitFor();
      },
    },
  ];
}

function listPageViews(): readonly DemoView[] {
  return [
    { name: "runs", path: "/runs", variants: [light], prepare: waitForHeading("Runs") },
    {
      name: "dataset",
      path: "/datasets/airport%20questions",
      variants: [light],
      prepare: waitForHeading("airport questions"),
    },
    {
      name: "experiment",
      path: "/experiments/exp_demo",
      variants: [light],
      prepare: waitForHeading("airport questions"),
    },
    { name: "sessions", path: "/sessions", variants: [light, phone], prepare: waitForHeading("Sessions") },
    { name: "agents", path: "/agents", variants: [light], prepare: waitForHeading("Agents") },
    { name: "mcp", path: "/mcp-servers", variants: [light], prepare: waitForHeading("MCP servers") },
    { name: "models", path: "/models", variants: [light], prepare: waitForHeading("Models") },
    { name: "admin", path: "/admin", variants: [light], prepare: waitForHeading("Administration") },
    { name: "settings", path: "/settings", variants: [light], prepare: waitForHeading("Settings") },
    {
      name: "list",
      path: "/sessions/ses_map",
      variants: [darkPhone],
      async prepare(browserPage, size) {
        await getConversation(browserPage).waitFor();
        if (size === "phone") await browserPage.keyboard.press("Control+b");
        await browserPage.waitForTimeout(300);
      },
    },
  ];
}
