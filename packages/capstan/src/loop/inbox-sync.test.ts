import { describe, expect, it } from "vitest";
import type { RunState } from "../state/state.ts";
import type { RunMessage, Store, StoreNotice } from "../store.ts";
import { memory } from "../stores/memory.ts";
import { inbox } from "./inbox.ts";
import { type Mailbox, openMailbox } from "./inbox-sync.ts";

/** A mailbox on a store whose answers are given by hand, and what it has brought. */
function mailboxOn(looks: (() => Promise<readonly RunMessage[]>)[]): {
  mailbox: Mailbox;
  brought(): Promise<readonly string[]>;
  ring(): void;
} {
  const box = inbox();
  let hear: (news: StoreNotice) => void = () => undefined;
  const store: Store = {
    ...memory(),
    listMessages: async () => (await looks.shift()?.()) ?? [],
    watch(_, heard) {
      hear = heard;
      return () => undefined;
    },
  };
  const mailbox = openMailbox({
    store,
    sessionId: "s",
    runId: "r",
    agents: new Map(),
    inbox: box,
    abort: () => undefined,
  });
  return {
    mailbox,
    brought: async () => (await box.take({ id: "r" } as RunState)).keys,
    ring: () => hear({ type: "message", runId: "r" }),
  };
}

const steer: RunMessage = { key: "k", type: "steer", text: "Hurry." };

describe("a mailbox", () => {
  it("brings nothing once it is closed: others may have heard it since (F84)", async () => {
    const late = Promise.withResolvers<readonly RunMessage[]>();
    const { mailbox, brought } = mailboxOn([() => late.promise]);
    const look = mailbox.pull();
    mailbox.close();
    late.resolve([steer]);
    await look;
    expect(await brought()).toEqual([]);
  });

  it("looks again after it could not, and then a failure counts (F70)", async () => {
    const broken = () => Promise.reject(new Error("gone"));
    const { mailbox, brought, ring } = mailboxOn([broken, broken, async () => [steer]]);
    ring();
    await new Promise((resolve) => setImmediate(resolve));
    await expect(mailbox.catchUp()).rejects.toThrow("gone");
    ring();
    await new Promise((resolve) => setImmediate(resolve));
    await mailbox.catchUp();
    expect(await brought()).toEqual(["k"]);
  });
});
