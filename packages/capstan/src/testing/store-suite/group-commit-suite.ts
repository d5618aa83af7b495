import { array, assert, asyncProperty, constantFrom, integer, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { describeThrown } from "../../base/errors.ts";
import type { StoredRequest } from "../../features/exact-requests/stored-request.ts";
import type { Lease, Store } from "../../runtime/store.ts";
import { acquireTestLease, createStartFact, createWarningFact } from "./facts-for-suite.ts";

const isLong = typeof process !== "undefined" && process.env.CAPSTAN_LONG === "1";
const sessionCount = 4;

/** An append of a random plan. `shift` moves its position away from the end of the log. */
type PlannedAppend = {
  readonly session: number;
  readonly codes: readonly string[];
  readonly shift: number;
  readonly lease: "held" | "stale";
  /** Whether the store accepts the request that comes with the facts. */
  readonly request: "none" | "valid" | "invalid";
};

const arbitraryAppend = record<PlannedAppend>({
  session: integer({ min: 0, max: sessionCount - 1 }),
  // Few codes, so that facts are repeated within an append and between them.
  codes: array(constantFrom("a", "b", "c", "d", "e", "f", "g", "h"), { maxLength: 3 }),
  shift: constantFrom(0, 0, 0, 0, -1, 1),
  lease: constantFrom("held", "held", "held", "stale"),
  request: constantFrom("none", "valid", "invalid"),
});

type TestSession = {
  readonly id: string;
  readonly runId: string;
  readonly held: Lease;
  readonly stale: Lease;
};

/** Appends that wait for the disk together. */
export function groupCommitSuite(getStore: () => Store): void {
  describe("concurrent appends", () => {
    it("with conflicts, stale leases and failures end like the same appends one after the other (F74)", async () => {
      const store = getStore();
      let trial = 0;
      await assert(
        asyncProperty(array(arbitraryAppend, { minLength: 2, maxLength: 60 }), async (plan) => {
          trial += 1;
          const serial = await openSessions(store, `${trial}-serial`);
          const positions: number[] = [];
          const outcomes: unknown[] = [];
          for (const planned of plan) {
            const { id = "" } = serial[planned.session] ?? {};
            const { length } = await store.read(id);
            const expected = length + planned.shift;
            const outcome = await append(store, { planned, sessions: serial, expected });
            if (typeof outcome === "string") expect(await store.read(id)).toHaveLength(length);
            positions.push(expected);
            outcomes.push(outcome);
          }
          const grouped = await openSessions(store, `${trial}-grouped`);
          const together = await Promise.all(
            plan.map((planned, index) =>
              append(store, { planned, sessions: grouped, expected: positions[index] ?? 0 }),
            ),
          );
          expect(together).toEqual(outcomes);
          expect(await readAll(store, grouped)).toEqual(await readAll(store, serial));
        }),
        { numRuns: isLong ? 300 : 8 },
      );
    });
  });
}

/** Opens sessions with two leases each, of which the first is lost. */
async function openSessions(store: Store, prefix: string): Promise<readonly TestSession[]> {
  return Promise.all(
    Array.from({ length: sessionCount }, async (_, index) => {
      const id = `${prefix}-${index}`;
      const stale = await acquireTestLease(store, id);
      const held = await store.lease(id, "other", 60_000, { takeOver: true });
      if (!held) throw new Error("The lease was not taken over.");
      await store.append([createStartFact(id, `run-${id}`)], { expected: 0, lease: held });
      return { id, runId: `run-${id}`, held, stale };
    }),
  );
}

type AppendContext = {
  readonly planned: PlannedAppend;
  readonly sessions: readonly TestSession[];
  readonly expected: number;
};

/** Returns the positions of the facts, or the code of the error. */
async function append(
  store: Store,
  { planned, sessions, expected }: AppendContext,
): Promise<readonly number[] | string> {
  const session = sessions[planned.session];
  if (!session) throw new Error("No such session.");
  const { id, runId } = session;
  const requests = planned.request === "none" ? [] : [createRequest(session, planned)];
  const facts = planned.codes.map((code) => createWarningFact(id, runId, code));
  try {
    const appended = await store.append(facts, { expected, lease: session[planned.lease], requests });
    return appended.map(({ seq }) => seq);
  } catch (thrown) {
    return describeThrown(thrown, "store_failed").code;
  }
}

/** The turn of an invalid request is no number, which a database refuses after it has inserted the facts. */
function createRequest({ runId }: TestSession, { codes, request }: PlannedAppend): StoredRequest {
  const turn = request === "valid" ? 1 : ("none" as unknown as number);
  return {
    ...{ number: codes.length, seq: 1, first: 1, span: 2, runId, turn, agent: "a", at: 0, purpose: "answer" },
    ...{ model: "m", url: "", method: "POST", headers: {}, pieces: ["{}"] },
  };
}

async function readAll(store: Store, sessions: readonly TestSession[]): Promise<unknown> {
  return Promise.all(
    sessions.map(async ({ id }) => ({
      facts: (await store.read(id)).map((fact) => [
        fact.seq,
        fact.type === "warning" ? fact.code : fact.type,
      ]),
      runs: (await store.listRuns(id)).map(({ state }) => state),
      requests: (await store.readRequests?.(id))?.map(({ number, turn }) => [number, turn]),
      size: (await store.getSession(id))?.facts,
    })),
  );
}
