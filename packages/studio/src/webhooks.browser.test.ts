import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Webhook } from "@capstan/server";
import { defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assertAccessible, changeTheme } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";

const githubSecret = "a secret of sixteen characters";
const replySecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** Takes results at `/taken`, and is gone everywhere else. */
let receiver: Server;
const listening = new Promise<number>((resolve) => {
  receiver = createServer((request, response) => {
    response.writeHead(request.url === "/taken" ? 204 : 410).end();
  });
  receiver.listen(0, "127.0.0.1", () => resolve((receiver.address() as AddressInfo).port));
});
const receiverPort = await listening;
afterAll(() => void receiver.close());

const createWebhook = (path: string): Webhook => ({
  provider: "github",
  secret: githubSecret,
  reply: {
    ...{ url: `http://127.0.0.1:${receiverPort}/${path}`, secret: replySecret },
    guard: { allowHttp: true, allowPrivate: true, ports: [receiverPort] },
  },
});

const studio = setupStudio(() => ({
  agents: [
    defineAgent({ name: "triage", model: scriptedModel(() => ({ text: "It is a duplicate of 7." })) }),
  ],
  webhooks: { issues: createWebhook("taken"), broken: createWebhook("gone") },
}));

/** Sends an issue as GitHub does. */
async function sendIssue(webhook: string, title: string): Promise<number> {
  const repository = { full_name: "acme/app" };
  const body = JSON.stringify({ action: "opened", repository, issue: { title } });
  const signature = createHmac("sha256", githubSecret).update(body).digest("hex");
  const headers = {
    ...{ "content-type": "application/json", "x-github-event": "issues", "x-github-delivery": title },
    "x-hub-signature-256": `sha256=${signature}`,
  };
  return (await fetch(`${studio.url}/webhooks/${webhook}`, { method: "POST", headers, body })).status;
}

beforeAll(async () => {
  expect(await sendIssue("issues", "The printer is on fire")).toBe(202);
  expect(await sendIssue("broken", "The kettle is cold")).toBe(202);
});

test.each([
  "desktop",
  "phone",
] as const)("on a %s in both themes, the runs page shows which webhook started a run, and whether its result was delivered", async (size) => {
  const page = await studio.open("/runs", { size });
  const runs = page.getByRole("main");
  await runs.getByText("webhook:issues").waitFor();
  await runs.getByText("webhook:broken").waitFor();
  await runs.getByText("delivered", { exact: true }).waitFor();
  const failed = runs.getByText("delivery failed");
  await failed.waitFor();
  await expect.poll(() => failed.locator("..").getAttribute("title")).toContain("status 410");
  for (const theme of ["light", "dark"] as const) {
    await changeTheme(page, theme);
    await takePicture(page, `webhooks-${size}-${theme}`);
    await assertAccessible(page);
  }
});

test("the runs of a webhook are found by its tag, and open with the message as external text", async () => {
  const page = await studio.open("/runs");
  await page.getByText("webhook:broken").waitFor();
  await page.getByLabel("Tag").fill("webhook:issues");
  await page.getByText("webhook:broken").waitFor({ state: "detached" });
  expect(page.url()).toContain("webhook");
  await page.getByRole("main").getByRole("link", { name: "issues.opened in acme/app: The printer" }).click();
  const conversation = page.getByRole("region", { name: "Conversation" });
  await conversation.getByText("It is a duplicate of 7.").waitFor();
  await conversation
    .getByRole("article", { name: "External message" })
    .getByText('"The printer is on fire"')
    .waitFor();
  await takePicture(page, "webhooks-conversation");
  expect(await page.content()).not.toContain(githubSecret);
});
