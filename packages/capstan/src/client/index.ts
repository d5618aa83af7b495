export { nextStage, type Stage, stageOf } from "./stage.ts";
export { type StreamMode, streamView } from "./stream-view.ts";
