export { type FileToolsOptions, fileTools } from "./file-tools.ts";
export type { UndoOptions } from "./files/change-history.ts";
export { isExternalFile } from "./files/external-files.ts";
export type { Quota } from "./files/quota.ts";
export { type FolderSurvey, type SurveyOptions, surveyFolder } from "./files/survey-folder.ts";
export type { FileLimits } from "./files/workspace.ts";
export { gitStatus, isGitRepository } from "./git-status.ts";
export type { MemoryScope } from "./memory/memory-context.ts";
export { type MemoryToolsOptions, memoryTools } from "./memory-tools.ts";
export { type PlanItem, planInstructions, planTool, trackPlan } from "./plan-tool.ts";
export type { SandboxOptions } from "./shell/bubblewrap.ts";
export type { ShellLimits } from "./shell/run-command.ts";
export type { SandboxReport } from "./shell/sandbox.ts";
export { type ShellTool, type ShellToolOptions, shellTool } from "./shell-tool.ts";
export {
  type FoundSkills,
  findSkills,
  readSkillFolder,
  type Skill,
  type SkillFileProblem,
  type SkillFolder,
  type SkillLocation,
  type SkillProvenance,
} from "./skills/find-skills.ts";
export type { SkillMetadata, SkillProblem } from "./skills/parse-skill.ts";
export { isSkillsTool, type SkillsOptions, type SkillsTool, skills } from "./skills.ts";
export { checkPublicUrl } from "./web/check-url.ts";
export type { GuardOptions } from "./web/guard.ts";
export {
  type GuardedFetch,
  type GuardedRequest,
  type GuardedResponse,
  guardedFetch,
} from "./web/guarded-client.ts";
export type { SearchProviderName } from "./web/search-providers.ts";
export { type WebFetchOptions, webFetch } from "./web-fetch.ts";
export { type WebSearchOptions, webSearch } from "./web-search.ts";
