export { collect } from "./collect.ts";
export { type FakeClock, type FakeClockOptions, fakeClock } from "./fake-clock.ts";
export {
  type Script,
  type ScriptedCall,
  type ScriptedModel,
  type ScriptedOptions,
  type ScriptedRequest,
  type ScriptedStep,
  scriptedModel,
} from "./scripted-model.ts";
