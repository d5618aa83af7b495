import type { AgentData } from "capstan/agents";
import type { AgentInfo } from "capstan/client";
import { Upload } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { client } from "../data/client.ts";
import { runWithToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";

/** Stores an agent from a file, as a new agent or as the next version of the one with its name. */
export async function importAgent(text: string): Promise<AgentInfo> {
  const data = parseAgent(text);
  const existing = (await client.agents.list()).find(({ name }) => name === data.name);
  return client.agents.save(data, existing?.version ?? 0);
}

function parseAgent(text: string): AgentData {
  try {
    const data: unknown = JSON.parse(text);
    if (typeof Reflect.get(Object(data), "name") === "string") return data as AgentData;
  } catch {
    // Reported below.
  }
  throw new Error("Not a valid agent file. Use a JSON file created by Export.");
}

type ImportButtonProps = {
  /** Accessible name of the file input. */
  readonly label: string;
  readonly onText: (text: string) => Promise<void>;
};

/** Imports an exported JSON file. */
export function ImportButton({ label, onText }: ImportButtonProps): ReactNode {
  const file = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={file}
        type="file"
        accept="application/json,.json"
        aria-label={label}
        tabIndex={-1}
        className="sr-only"
        onChange={({ target }) => {
          const [chosen] = target.files ?? [];
          if (chosen) runWithToast(async () => onText(await chosen.text()));
          target.value = "";
        }}
      />
      <Button onClick={() => file.current?.click()}>
        <Upload size={15} aria-hidden="true" />
        Import
      </Button>
    </>
  );
}
