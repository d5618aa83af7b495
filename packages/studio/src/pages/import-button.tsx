import type { AgentData } from "capstan/agents";
import type { AgentInfo } from "capstan/client";
import { Upload } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { client } from "../data/client.ts";
import { attempt } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";

/** Stores the agent of a file: as a new one, or as the next version of the one that has its name. */
export async function importAgent(text: string): Promise<AgentInfo> {
  const data = parsed(text);
  const known = (await client.agents.list()).find(({ name }) => name === data.name);
  return client.agents.save(data, known?.version ?? 0);
}

function parsed(text: string): AgentData {
  try {
    const data: unknown = JSON.parse(text);
    if (typeof Reflect.get(Object(data), "name") === "string") return data as AgentData;
  } catch {
    // Said below.
  }
  throw new Error("This file is not an agent: it must be JSON with a name, as Export writes it.");
}

type ImportButtonProps = {
  /** What the file is, for those who cannot see the button. */
  readonly label: string;
  readonly onText: (text: string) => Promise<void>;
};

/** Takes a file that was exported as JSON. */
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
          if (chosen) attempt(async () => onText(await chosen.text()));
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
