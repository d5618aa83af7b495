export { type ReasoningStep, reasoningSteps, stepsOf } from "./reasoning-steps.ts";
export { reduce, viewOf } from "./reduce.ts";
export {
  type CallView,
  type EntryView,
  emptyView,
  type LiveView,
  type PendingView,
  type SessionView,
} from "./session-view.ts";
export { nextStage, type Stage, stageOf } from "./stage.ts";
export { type StreamMode, streamView } from "./stream-view.ts";
