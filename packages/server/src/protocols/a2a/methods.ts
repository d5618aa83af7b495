import { AgentError } from "capstan";
import { tellRun } from "../../runs/send-to-run.ts";
import { type A2aAsking, type FollowedTask, followTask, placeOf } from "./follow-task.ts";
import { listTasks } from "./list-tasks.ts";
import { listParams, sendParams, taskParams } from "./request.ts";
import { type RpcError, rpcError, rpcParams } from "./rpc.ts";
import { sendMessage } from "./send-message.ts";
import { type A2aFrame, isTerminal, withHistory } from "./wire.ts";

/** What came of a method: a result, an error of its own, or a stream. */
export type A2aOutcome =
  | { readonly result: object }
  | { readonly error: RpcError }
  | { readonly frames: AsyncGenerator<A2aFrame, void, undefined> };

type Method = (asking: A2aAsking, params: unknown) => Promise<A2aOutcome>;

/** A run that does not stop in this time is left alone: its end can be asked for. */
const cancelMs = 10_000;

/** The methods that work on tasks. */
export const a2aMethods: { readonly [name: string]: Method } = {
  async SendMessage(asking, params) {
    const { message, configuration = {} } = rpcParams(sendParams, params);
    if (configuration.taskPushNotificationConfig) return noPush();
    assertRoom(asking);
    const followed = await sendMessage(asking, message);
    if (!configuration.returnImmediately) for await (const _ of followed.frames("rest"));
    return { result: { task: withHistory(followed.task(), configuration.historyLength) } };
  },
  async SendStreamingMessage(asking, params) {
    const { message, configuration = {} } = rpcParams(sendParams, params);
    if (configuration.taskPushNotificationConfig) return noPush();
    assertRoom(asking);
    const followed = await sendMessage(asking, message);
    return { frames: framesOf(followed, { until: "rest", historyLength: configuration.historyLength }) };
  },
  async GetTask(asking, params) {
    const { id, historyLength } = rpcParams(taskParams, params);
    const followed = await followTask(asking, await placeOf(asking, id), "now");
    return { result: withHistory(followed.task(), historyLength) };
  },
  async CancelTask(asking, params) {
    const { id } = rpcParams(taskParams, params);
    const place = await placeOf(asking, id);
    const signal = AbortSignal.any([asking.signal, AbortSignal.timeout(cancelMs)]);
    const followed = await followTask({ ...asking, signal }, place, "now");
    assertOpen(followed);
    await tellRun(asking.deployment, { caller: asking.caller, runId: id }, { type: "cancel" });
    for await (const _ of followed.frames("end"));
    return { result: followed.task() };
  },
  async SubscribeToTask(asking, params) {
    const { id } = rpcParams(taskParams, params);
    const followed = await followTask(asking, await placeOf(asking, id), "now");
    assertOpen(followed);
    return { frames: framesOf(followed, { until: "end" }) };
  },
  ListTasks: async (asking, params) => ({ result: await listTasks(asking, rpcParams(listParams, params)) }),
  CreateTaskPushNotificationConfig: async () => noPush(),
  GetTaskPushNotificationConfig: async () => noPush(),
  ListTaskPushNotificationConfigs: async () => noPush(),
  DeleteTaskPushNotificationConfig: async () => noPush(),
};

/** Methods whose answer takes as long as a run. */
export const lastingMethods: readonly string[] = [
  ...["SendMessage", "SendStreamingMessage", "SubscribeToTask", "CancelTask"],
];

type Reading = { readonly until: "rest" | "end"; readonly historyLength?: number | undefined };

async function* framesOf(
  followed: FollowedTask,
  { until, historyLength }: Reading,
): AsyncGenerator<A2aFrame, void, undefined> {
  yield { task: withHistory(followed.task(), historyLength) };
  yield* followed.frames(until);
}

function noPush(): A2aOutcome {
  return {
    error: rpcError("PUSH_NOTIFICATION_NOT_SUPPORTED", "Nobody is called from here: ask, or subscribe."),
  };
}

function assertOpen(followed: FollowedTask): void {
  const { id, status } = followed.task();
  if (isTerminal(status.state))
    throw new AgentError("run_ended", `The task "${id}" has ended (${status.state}).`);
}

/** Other methods are answered also while the server is full or about to leave. */
function assertRoom({ deployment }: A2aAsking): void {
  if (deployment.leaving.aborted)
    throw new AgentError("draining", "The server is about to leave: ask again in a moment.");
  deployment.assertRoom();
}
