import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { AgentError, type JsonSchema } from "capstan";
import type { Io } from "../io.ts";

/** Reads `--output-schema`: a file, or the schema as JSON. */
export function readSchema(fileOrJson: string, io: Io): JsonSchema {
  const isInline = fileOrJson.trimStart().startsWith("{");
  const text = isInline ? fileOrJson : readSchemaFile(resolve(io.cwd, fileOrJson));
  try {
    const schema: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) return schema as JsonSchema;
  } catch {
    // Reported below.
  }
  const where = isInline ? "--output-schema" : `The file ${fileOrJson} of --output-schema`;
  throw new AgentError(
    "invalid_input",
    `${where} is not a JSON Schema. Use an object such as {"type":"object", …}.`,
  );
}

function readSchemaFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new AgentError(
      "invalid_input",
      `--output-schema: ${file} cannot be read (${code}). Check the path.`,
    );
  }
}
