export {
  type Config,
  defineConfig,
  type LogSettings,
  type ServerSettings,
  type ToolSet,
} from "./config/config.ts";
