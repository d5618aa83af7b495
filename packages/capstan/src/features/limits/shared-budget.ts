import { rejectOnAbort } from "../../base/clock.ts";
import type { Agent } from "../../kernel/agent.ts";
import type { Effect, ModelEffect, Step } from "../../kernel/effect.ts";
import { listToolInstructions } from "../../kernel/prompt.ts";
import { listAncestors, type RunState, type State } from "../../kernel/state.ts";
import { toModelHistory } from "../citations/model-history.ts";
import { hasMedia } from "../media/has-media.ts";
import { createChangeNotice } from "../nested/change-notice.ts";

/** What a call that has started may still spend, in the budgets of its run and of all ancestors. */
type Reservation = {
  readonly runs: readonly RunState[];
  readonly tokens: number;
  readonly cost: number;
  readonly modelCalls: number;
  readonly agents: number;
  /** Whether its tool call is not counted in `startedCalls` yet. */
  isUncounted(): boolean;
};

type Amount = "tokens" | "cost" | "toolCalls" | "modelCalls" | "agents";

/**
 * Keeps runs that execute in parallel from overspending a budget that they share. A call reserves the most that it can
 * use before it starts. If that does not fit next to the other reservations, it waits for one of them to be settled.
 */
export interface SharedBudget {
  /** Resolves when the effect may start, with a function that settles the reservation; undefined if the budget is spent. */
  reserve(effect: Effect, spender: Spender): Promise<(() => void) | undefined>;
  /** Allows a run to start a nested one, until the returned function is called. Undefined if the budget is spent. */
  reserveAgent(run: RunState): (() => void) | undefined;
  /** Called when facts are stored: amounts that were reserved may be spent now. */
  onStored(): void;
}

type Spender = { readonly state: State; readonly agent: Agent | undefined; readonly signal: AbortSignal };

export function createSharedBudget(): SharedBudget {
  const reservations = new Set<Reservation>();
  const change = createChangeNotice();

  /** Adds up what other calls have reserved in the budget of a run. */
  function countReserved(run: RunState, amount: Amount): number {
    let sum = 0;
    for (const reservation of reservations) {
      if (!reservation.runs.includes(run)) continue;
      sum += amount === "toolCalls" ? Number(reservation.isUncounted()) : reservation[amount];
    }
    return sum;
  }

  /** `wait`: other calls may spend the rest. */
  function check(run: RunState, amounts: readonly Amount[]): "fits" | "wait" | "spent" {
    let verdict: "fits" | "wait" = "fits";
    for (const owner of listAncestors(run)) {
      for (const amount of amounts) {
        // Runs that an earlier version started lack some limits.
        const limit = owner.policy.budget[amount] ?? "unlimited";
        if (limit === "unlimited") continue;
        if (getSpent(owner, amount) >= limit) return "spent";
        const reserved = countReserved(owner, amount);
        if (reserved > 0 && getSpent(owner, amount) + reserved >= limit) verdict = "wait";
      }
    }
    return verdict;
  }

  function add(reservation: Reservation): () => void {
    reservations.add(reservation);
    return () => {
      reservations.delete(reservation);
      change.notify();
    };
  }

  return {
    async reserve(effect, { state, agent, signal }) {
      const { run } = state;
      const amounts = listAmounts(effect);
      if (!run || amounts.length === 0) return () => undefined;
      let hasWaited = effect.type === "tool";
      for (;;) {
        const verdict = signal.aborted ? "fits" : check(run, amounts);
        // The rules have decided on a model call with the same state, unless it had to wait.
        if (verdict === "spent" && hasWaited && (effect.type === "model" || effect.type === "tool"))
          return undefined;
        if (verdict !== "wait") break;
        hasWaited = true;
        await rejectOnAbort(change.wait(), signal).catch(() => undefined);
      }
      return add(buildReservation(effect, { run, state, agent }));
    },
    reserveAgent(run) {
      if (check(run, ["agents"]) !== "fits") return undefined;
      return add({ ...nothing, runs: listAncestors(run), agents: 1 });
    },
    onStored() {
      if (reservations.size > 0) change.notify();
    },
  };
}

/** Performs effects within a shared budget. An effect that no longer fits is not performed: the rules decide again. */
export function withSharedBudget(
  step: Step,
  openBudget: () => SharedBudget,
  spender: { readonly state: State; findAgent(name: string): Agent | undefined },
): Step {
  const performWithin: Step = async (effect, signal) => {
    const agent = effect.type === "model" ? spender.findAgent(effect.agent) : undefined;
    const settle = await openBudget().reserve(effect, { state: spender.state, agent, signal });
    if (!settle) return [];
    try {
      return await step(effect, signal);
    } finally {
      settle();
    }
  };
  return (effect, signal) => (sharesBudget(spender.state) ? performWithin : step)(effect, signal);
}

/** A run without nested runs makes one model call at a time, and its rules count its tool calls. */
export function sharesBudget({ run }: State): boolean {
  return run !== undefined && (run.parent !== undefined || run.nested.size > 0);
}

function listAmounts(effect: Effect): readonly Amount[] {
  switch (effect.type) {
    case "model":
    case "summary":
    case "turn_summary":
      return ["tokens", "cost", "modelCalls"];
    case "tool":
      return effect.attempt === 1 && !effect.refused && !effect.isFallback ? ["toolCalls"] : [];
    default:
      return [];
  }
}

function getSpent({ usage, startedCalls, modelCalls, startedAgents }: RunState, amount: Amount): number {
  switch (amount) {
    case "tokens":
      return usage.inputTokens + usage.outputTokens;
    case "cost":
      return usage.cost ?? 0;
    case "toolCalls":
      return startedCalls;
    case "modelCalls":
      return modelCalls;
    case "agents":
      return startedAgents;
  }
}

const nothing = { tokens: 0, cost: 0, modelCalls: 0, agents: 0, isUncounted: () => false };

type ReservationSource = { readonly run: RunState; readonly state: State; readonly agent: Agent };

function buildReservation(
  effect: Effect,
  { run, state, agent }: Omit<ReservationSource, "agent"> & Pick<Spender, "agent">,
): Reservation {
  const runs = listAncestors(run);
  if (effect.type === "tool") {
    const isUncounted = () => run.currentTurn?.calls.get(effect.callId)?.attempt === 0;
    return { ...nothing, runs, isUncounted };
  }
  const isLimited = runs.some(({ policy }) => policy.budget.tokens !== "unlimited");
  const isKnown = isLimited && effect.type === "model" && agent !== undefined;
  const tokens = isKnown ? computeMaxTokens(effect, { run, state, agent }) : Number.POSITIVE_INFINITY;
  // The price of a call is only known when it has been made.
  return { ...nothing, runs, tokens, cost: Number.POSITIVE_INFINITY, modelCalls: 1 };
}

/**
 * Returns the most tokens that a model call can use, with its repetitions: no token is shorter than a byte. Infinite if the
 * output has no limit, or if the size of the input is not known here.
 */
function computeMaxTokens(effect: ModelEffect, { run, state, agent }: ReservationSource): number {
  const { instructions = agent.instructions, settings } = run;
  const ownSettings = typeof agent.settings === "function" ? undefined : agent.settings;
  const output = settings?.maxOutputTokens ?? ownSettings?.maxOutputTokens;
  const effort = settings?.effort ?? ownSettings?.effort;
  const isOpen = effect.thinking || effort !== undefined || effect.hasMoreRoom || agent.hosted !== undefined;
  if (output === undefined || isOpen || typeof instructions !== "string" || hasMedia(state.history))
    return Number.POSITIVE_INFINITY;
  const { specs, output: schema } = agent;
  const sent = [instructions, listToolInstructions(agent), specs, schema?.json, effect.notes];
  const input = JSON.stringify([
    ...sent,
    toModelHistory(state),
    run.steering,
    run.currentTurn?.partial?.entry,
  ]);
  return effect.retry.attempts * (new TextEncoder().encode(input).length + output);
}
