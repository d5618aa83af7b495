import { defineAgent, defineTool, run } from "capstan";
import { session } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { expect, test } from "vitest";
import { assertAccessible } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { getTranscript, sendAndWait } from "./testing/conversation-page.ts";

const text = `An answer.\n\n${"A line of the answer.\n\n".repeat(12)}`;
const model = scriptedModel(() => ({ text }), { record: false });
const studio = setupStudio(() => ({ agents: [defineAgent({ name: "guide", model })] }));

async function send(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(new URL(path, studio.url), {
    method,
    headers: { ...headers, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, ...(await response.json()) };
}

async function startRun(
  input: object,
  headers: Record<string, string> = {},
): Promise<{ runId: string; sessionId: string }> {
  const started = await send("POST", "/api/runs", input, headers);
  await expect
    .poll(async () => (await send("GET", `/api/runs/${started.runId}`, undefined, headers)).state)
    .toBe("ended");
  return started;
}

test("a link opens the session at the run, and is copied from the answer (A84)", async () => {
  const page = await studio.open("/");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const first = await startRun({ input: "question 1" });
  for (let number = 2; number <= 8; number++)
    await startRun({ input: `question ${number}`, sessionId: first.sessionId });
  await page.goto(`${studio.url}/runs/${first.runId}`);
  const question = getTranscript(page).getByText("question 1", { exact: true });
  await question.waitFor();
  expect(new URL(page.url()).pathname).toBe(`/sessions/${first.sessionId}`);
  await expect
    .poll(() => question.evaluate((element) => element.getBoundingClientRect().top))
    .toBeGreaterThan(0);
  await expect
    .poll(() => question.evaluate((element) => element.getBoundingClientRect().bottom - window.innerHeight))
    .toBeLessThan(0);
  const article = page.getByRole("article", { name: "Message from guide" }).first();
  await takePicture(page, "share-opened");
  await article.hover();
  await article.getByRole("button", { name: "Copy link to this run" }).click();
  await article.getByRole("button", { name: "Copied" }).waitFor();
  await takePicture(page, "share-copy");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${studio.url}/runs/${first.runId}`);
});

test("a run of another user looks like one that does not exist (A84)", async () => {
  const { secret } = await studio.server.keys.create({ user: "ada" });
  const { runId } = await startRun({ input: "private" }, { authorization: `Bearer ${secret}` });
  const page = await studio.open(`/#code=${studio.server.oneTimeCode("bob")}`, {
    expects: [/404/],
    size: "phone",
  });
  await page.getByRole("textbox").first().waitFor();
  const texts: string[] = [];
  for (const id of [runId, "run_nowhere"]) {
    await page.goto(`${studio.url}/runs/${id}`);
    await page.getByText("Run not found, or no access").waitFor();
    texts.push(await page.getByRole("main").innerText());
  }
  expect(texts[0]).toBe(texts[1]);
  await takePicture(page, "share-no-access-phone");
  await page.goto(studio.url);
  await sendAndWait(page, "Hello");
});

async function exportExample(): Promise<string> {
  const store = memory();
  const forecast = defineTool({
    ...{ name: "forecast", description: "The forecast", input: { type: "object" }, effects: "none" },
    execute: () => ({
      content: '{"mon":7,"tue":-2,"wed":4}',
      contexts: [
        { id: "f", content: "7 °C", source: { title: "Weather service", url: "https://example.org/w" } },
      ],
      ui: {
        kind: "chart",
        props: {
          ...{ title: "This week", type: "bar", x: { values: ["Mon", "Tue", "Wed"] } },
          series: [
            { label: "Oslo", values: [7, -2, 4] },
            { label: "Bergen", values: [9, 3, 6] },
          ],
        },
      },
    }),
  });
  const answer =
    "It gets **colder** tomorrow [1].\n\n1. Today: 7 °C\n2. Tomorrow: -2 °C\n\n| day | Oslo | Bergen |\n| --- | --- | --- |\n| Mon | 7 | 9 |\n| Tue | -2 | 3 |\n\n```ts\nconst cold = temperature < 0;\n```\n\n<script>document.title = 'canary'</script>";
  const model = scriptedModel([
    { reasoning: "I need the forecast.", calls: [{ name: "forecast", input: { place: "Oslo" } }] },
    { text: answer },
  ]);
  const agent = defineAgent({ name: "guide", model, tools: [forecast] });
  await run(agent, "How cold will it be this week?", { store, session: "s1" });
  return session(store, "s1").export("html");
}

test("an export is one page that looks like the studio and loads nothing (A66, A124)", async () => {
  const body = await exportExample();
  for (const [size, theme] of [
    ["desktop", "light"],
    ["phone", "dark"],
  ] as const) {
    const page = await studio.open("/api/health", { size, theme });
    await page.route("**/export.html", (route) => route.fulfill({ body, contentType: "text/html" }));
    // The page of a test fails it if it requests anything from another origin, or breaks its own policy.
    const requests: string[] = [];
    page.on("request", (request) => requests.push(new URL(request.url()).pathname));
    await page.goto(`${studio.url}/export.html`);
    await page.locator("summary").filter({ hasText: "forecast" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText('"place": "Oslo"').waitFor();
    await page.getByRole("link", { name: "1", exact: true }).waitFor();
    expect(await page.title()).toBe("How cold will it be this week?");
    expect(requests.filter((path) => path !== "/favicon.ico")).toEqual(["/export.html"]);
    await assertAccessible(page);
    await takePicture(page, `export-${size}-${theme}`);
  }
});
