import { expect, it } from "vitest";
import { openConnection } from "./connection.ts";
import { createWorkQueue } from "./work-queue.ts";

it("a burst of writes is split into transactions, and the event loop turns between them", async () => {
  const connection = openConnection(":memory:", 100);
  const steps: string[] = [];
  const run: typeof connection.run = (sql, ...values) => {
    if (sql === "BEGIN IMMEDIATE") steps.push("transaction");
    return connection.run(sql, ...values);
  };
  const queue = createWorkQueue({ ...connection, run }, 100);
  const writes = Array.from({ length: 150 }, (_, index) => queue.write(() => index));
  const countTurns = () => {
    steps.push("turn");
    if (steps.length < 8) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  expect(await Promise.all(writes)).toEqual(Array.from({ length: 150 }, (_, index) => index));
  expect(steps.filter((step) => step === "transaction")).toHaveLength(3);
  expect(steps.join(" ")).not.toContain("transaction transaction");
  await queue.close();
  connection.close();
});
