import { expect, it } from "vitest";
import { casesOf, clients } from "./wires.ts";

it.each(clients)("the measured loops of $name hear every piece", async (client) => {
  for (const { piece, bare, ours } of casesOf(client, 50)) {
    expect(await bare()).toBeGreaterThanOrEqual(50);
    // Gemini's arguments are told whole, when their last piece has come.
    const told = client.name === "gemini" && piece === "arguments" ? 3 : 50;
    expect(await ours()).toBeGreaterThanOrEqual(told);
  }
});
