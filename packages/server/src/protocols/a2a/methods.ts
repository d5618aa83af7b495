import { AgentError } from "capstan";
import { sendToRun } from "../../runs/send-to-run.ts";
import { type A2aContext, type FollowedTask, followTask, locateTask } from "./follow-task.ts";
import { listTasks } from "./list-tasks.ts";
import { listParams, sendParams, taskParams } from "./request.ts";
import { createRpcError, parseRpcParams, type RpcError } from "./rpc.ts";
import { sendMessage } from "./send-message.ts";
import { type A2aFrame, isTerminal, withHistory } from "./wire.ts";

/** A result, a protocol error, or a stream. */
export type A2aOutcome =
  | { readonly result: object }
  | { readonly error: RpcError }
  | { readonly frames: AsyncGenerator<A2aFrame, void, undefined> };

type A2aMethod = (asking: A2aContext, params: unknown) => Promise<A2aOutcome>;

/** Max time to wait for a cancelled run to end. */
const cancelTimeoutMs = 10_000;

/** Task methods by name. */
export const a2aMethods: { readonly [name: string]: A2aMethod } = {
  async SendMessage(asking, params) {
    const { message, configuration = {} } = parseRpcParams(sendParams, params);
    if (configuration.taskPushNotificationConfig) return refusePush();
    assertAcceptsWork(asking);
    const followed = await sendMessage(asking, message);
    if (!configuration.returnImmediately) for await (const _ of followed.readFrames("rest"));
    return { result: { task: withHistory(followed.getTask(), configuration.historyLength) } };
  },
  async SendStreamingMessage(asking, params) {
    const { message, configuration = {} } = parseRpcParams(sendParams, params);
    if (configuration.taskPushNotificationConfig) return refusePush();
    assertAcceptsWork(asking);
    const followed = await sendMessage(asking, message);
    return { frames: streamTask(followed, { until: "rest", historyLength: configuration.historyLength }) };
  },
  async GetTask(asking, params) {
    const { id, historyLength } = parseRpcParams(taskParams, params);
    const followed = await followTask(asking, await locateTask(asking, id), "now");
    return { result: withHistory(followed.getTask(), historyLength) };
  },
  async CancelTask(asking, params) {
    const { id } = parseRpcParams(taskParams, params);
    const place = await locateTask(asking, id);
    const signal = AbortSignal.any([asking.signal, AbortSignal.timeout(cancelTimeoutMs)]);
    const followed = await followTask({ ...asking, signal }, place, "now");
    assertNotEnded(followed);
    await sendToRun(asking.deployment, { caller: asking.caller, runId: id }, { type: "cancel" });
    for await (const _ of followed.readFrames("end"));
    return { result: followed.getTask() };
  },
  async SubscribeToTask(asking, params) {
    const { id } = parseRpcParams(taskParams, params);
    const followed = await followTask(asking, await locateTask(asking, id), "now");
    assertNotEnded(followed);
    return { frames: streamTask(followed, { until: "end" }) };
  },
  ListTasks: async (asking, params) => ({
    result: await listTasks(asking, parseRpcParams(listParams, params)),
  }),
  CreateTaskPushNotificationConfig: async () => refusePush(),
  GetTaskPushNotificationConfig: async () => refusePush(),
  ListTaskPushNotificationConfigs: async () => refusePush(),
  DeleteTaskPushNotificationConfig: async () => refusePush(),
};

/** Methods whose response lasts as long as a run. */
export const longMethods: readonly string[] = [
  ...["SendMessage", "SendStreamingMessage", "SubscribeToTask", "CancelTask"],
];

type StreamTaskOptions = { readonly until: "rest" | "end"; readonly historyLength?: number | undefined };

async function* streamTask(
  followed: FollowedTask,
  { until, historyLength }: StreamTaskOptions,
): AsyncGenerator<A2aFrame, void, undefined> {
  yield { task: withHistory(followed.getTask(), historyLength) };
  yield* followed.readFrames(until);
}

function refusePush(): A2aOutcome {
  return {
    error: createRpcError(
      "PUSH_NOTIFICATION_NOT_SUPPORTED",
      "Push notifications are not supported. Poll or subscribe instead.",
    ),
  };
}

function assertNotEnded(followed: FollowedTask): void {
  const { id, status } = followed.getTask();
  if (isTerminal(status.state))
    throw new AgentError("run_ended", `Task "${id}" has ended (${status.state}).`);
}

/** Only methods that start work are refused without capacity or during shutdown. */
function assertAcceptsWork({ deployment }: A2aContext): void {
  if (deployment.shutdownSignal.aborted)
    throw new AgentError("draining", "The server is shutting down. Try again in a moment.");
  deployment.admission.assertCapacity();
}
