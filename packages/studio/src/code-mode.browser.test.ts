import { codeMode } from "@capstan/code-mode";
import { defineAgent, defineTool } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { expect, test } from "vitest";
import { assertAccessible } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { skipMisclickGuard } from "./testing/conversation-page.ts";

const refunded: number[] = [];
const id = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] } as const;
const getOrder = defineTool({
  name: "get_order",
  description: "Returns an order",
  effects: "none",
  input: id,
  execute: (input) => ({ id: input.id, total: input.id * 10, state: input.id % 4 === 0 ? "late" : "sent" }),
});
const refund = defineTool({
  name: "refund",
  description: "Refunds an order",
  effects: "state",
  needsApproval: "A refund cannot be taken back.",
  input: id,
  execute: (input) => {
    refunded.push(input.id);
    return `Refunded order ${input.id}`;
  },
});
const code = `// Find the orders that are late, and refund the first.
const ids = Array.from({ length: 40 }, (_, index) => index + 1);
const orders = await Promise.all(ids.map((id) => tools.get_order({ id })));
const late = orders.filter(({ state }) => state === "late");
await tools.refund({ id: late[0].id });
return { late: late.length, refunded: late[0].id };`;
const clerk = defineAgent({
  name: "clerk",
  model: scriptedModel(({ history }) => {
    const last = history.at(-1);
    if (last?.type === "result") return { text: "10 orders are late. I have refunded order 4." };
    return { text: "I check all orders at once.", calls: [{ name: "run_code", input: { code } }] };
  }),
  tools: [codeMode({ tools: [getOrder, refund] })],
});
const studio = setupStudio(() => ({ store: memory(), agents: [clerk] }));

test.each([
  { size: "desktop", theme: "light" },
  { size: "phone", theme: "dark" },
] as const)("a program shows its code and its calls, and waits in the middle for an approval, at $size size and $theme", async ({
  size,
  theme,
}) => {
  refunded.length = 0;
  const page = await studio.open("/", { size, theme });
  await page.locator("[data-prompt]").fill("Which orders are late?");
  await page.locator("[data-prompt]").press("Enter");
  const inside = page.getByRole("region", { name: "Nested run of run_code" });
  await inside.locator("[data-call][data-state=asking]").waitFor();
  expect(refunded).toEqual([]);
  // Five of the calls, and the one that waits.
  await expect.poll(() => inside.locator("[data-call]").count()).toBe(6);
  await takePicture(page, `program-waits-${size}-${theme}`);
  const allow = page
    .getByRole("region", { name: "Approval for refund" })
    .getByRole("button", { name: "Allow", exact: true });
  await skipMisclickGuard(page);
  await allow.click();
  await page.getByText("10 orders are late. I have refunded order 4.", { exact: true }).waitFor();
  expect(refunded).toEqual([4]);

  const more = inside.getByRole("button", { name: "Show 36 more calls" });
  await more.focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => inside.locator("[data-call][data-state=ok]").count()).toBe(41);
  await inside.getByRole("button", { name: "Show fewer calls" }).click();
  const program = page.getByRole("button", { name: /^run_code/ });
  await program.click();
  const shown = page.getByRole("region", { name: "Code, javascript" });
  await expect.poll(() => shown.textContent()).toContain("await tools.refund({ id: late[0].id });");
  await program.scrollIntoViewIfNeeded();
  await takePicture(page, `program-done-${size}-${theme}`);
  await assertAccessible(page);
});
