import { type Clock, sleep } from "../../base/clock.ts";

/** Leaves the process: other runs no longer share it with this one. */
export type LeaveProcess = () => void;

/** A run that was in flight during repeated crashes and may have caused them. */
export type Suspect = {
  readonly runId: string;
  /**
   * The run enters after the process has been up for this long without it, and is alone for at most this long. A process
   * that crashes for another reason does so before the trial, or is as likely to survive it.
   */
  readonly trialMs: number;
  readonly signal: AbortSignal;
  /** Records that the run is no longer alone. Other runs enter once it resolves. */
  endSolo(): Promise<void>;
};

/** Decides which runs execute in this process: either any number of runs, or one suspect alone. */
export interface ProcessGate {
  /**
   * Enters together with other runs. While a suspect is alone or about to be, waits for up to `maxWaitMs`; then the suspect
   * has to share the process.
   */
  enter(signal: AbortSignal): Promise<LeaveProcess>;
  /** Enters alone, when it is the suspect's turn; or together with other runs, if they do not leave. */
  enterAlone(suspect: Suspect): Promise<{ readonly isAlone: boolean; readonly leave: LeaveProcess }>;
  /** Ends the turn of the suspect: it has made progress, and other runs may enter. Ignored for any other run. */
  share(runId: string): void;
}

/** How long a suspect waits to be alone, in multiples of its trial. */
const maxTrialsToWait = 8;

export function createProcessGate(clock: Clock, maxWaitMs: number): ProcessGate {
  const occupancy: Occupancy = { clock, executing: 0, waiting: new Set(), suspects: [] };
  return {
    enter: (signal) =>
      occupancy.suspects.length === 0 || signal.aborted
        ? Promise.resolve(occupy(occupancy))
        : waitForTurn(occupancy, maxWaitMs, signal),
    async enterAlone(suspect) {
      await sleep(clock, suspect.trialMs, suspect.signal).catch(() => undefined);
      if (suspect.signal.aborted) return { isAlone: false, leave: occupy(occupancy) };
      return new Promise((resolve) => {
        enqueue(occupancy, suspect, (isAlone, leave) => resolve({ isAlone, leave }));
      });
    },
    share(runId) {
      const [suspect] = occupancy.suspects;
      if (suspect?.isInside && suspect.runId === runId) endTurn(occupancy, suspect);
    },
  };
}

type Occupancy = {
  readonly clock: Clock;
  /** How many runs execute. */
  executing: number;
  /** Admit the runs that wait for the suspect's turn to end. */
  readonly waiting: Set<() => void>;
  /** In order: the first one is alone, or waits for the runs in the process to leave. */
  readonly suspects: QueuedSuspect[];
};

type QueuedSuspect = Suspect & {
  isInside: boolean;
  isEnding: boolean;
  cancelTimer(): void;
  admit(isAlone: boolean): void;
};

function occupy(occupancy: Occupancy): LeaveProcess {
  occupancy.executing += 1;
  let isInside = true;
  return () => {
    if (!isInside) return;
    isInside = false;
    occupancy.executing -= 1;
    startSoloTurn(occupancy);
  };
}

function startSoloTurn({ executing, suspects: [suspect] }: Occupancy): void {
  if (suspect && !suspect.isInside && executing === 0) suspect.admit(true);
}

function endTurn(occupancy: Occupancy, suspect: QueuedSuspect): void {
  const { suspects, waiting } = occupancy;
  const index = suspects.indexOf(suspect);
  if (index < 0) return;
  suspect.cancelTimer();
  suspects.splice(index, 1);
  if (index > 0) return;
  // Runs that waited enter before the next suspect, so that suspects cannot keep them out for longer.
  for (const admit of waiting) admit();
  startSoloTurn(occupancy);
}

/** Makes the suspect share the process: its trial is over, or a run has waited for long enough. */
function interruptTurn(occupancy: Occupancy): void {
  const [suspect] = occupancy.suspects;
  if (!suspect || suspect.isEnding) return;
  if (!suspect.isInside) {
    suspect.admit(false);
    return;
  }
  suspect.isEnding = true;
  // If this cannot be recorded, the run fails too, and leaves.
  suspect.endSolo().then(
    () => endTurn(occupancy, suspect),
    () => undefined,
  );
}

function enqueue(
  occupancy: Occupancy,
  suspect: Suspect,
  onAdmitted: (isAlone: boolean, leave: LeaveProcess) => void,
): void {
  const { signal, trialMs } = suspect;
  const { clock, suspects } = occupancy;
  const queued: QueuedSuspect = {
    ...suspect,
    isInside: false,
    isEnding: false,
    cancelTimer: clock.after(maxTrialsToWait * trialMs, () => queued.admit(false)),
    admit(isAlone) {
      signal.removeEventListener("abort", abort);
      queued.cancelTimer();
      queued.isInside = true;
      const leave = occupy(occupancy);
      if (isAlone) queued.cancelTimer = clock.after(trialMs, () => interruptTurn(occupancy));
      else endTurn(occupancy, queued);
      onAdmitted(isAlone, () => {
        leave();
        endTurn(occupancy, queued);
      });
    },
  };
  const abort = () => queued.admit(false);
  signal.addEventListener("abort", abort, { once: true });
  suspects.push(queued);
  startSoloTurn(occupancy);
}

function waitForTurn(occupancy: Occupancy, maxWaitMs: number, signal: AbortSignal): Promise<LeaveProcess> {
  const { clock, waiting } = occupancy;
  return new Promise((resolve) => {
    const admit = () => {
      waiting.delete(admit);
      cancel();
      signal.removeEventListener("abort", admit);
      resolve(occupy(occupancy));
    };
    const cancel = clock.after(maxWaitMs, () => interruptTurn(occupancy));
    waiting.add(admit);
    signal.addEventListener("abort", admit, { once: true });
  });
}
