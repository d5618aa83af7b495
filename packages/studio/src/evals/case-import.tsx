import { formatCount } from "capstan/sessions";
import { Upload } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { evalsClient } from "../data/evals-client.ts";
import { runWithToast, showToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";

type CaseImportProps = { readonly dataset: string; readonly onImported: () => void };

/** Adds the cases of a CSV or JSONL file. */
export function CaseImport({ dataset, onImported }: CaseImportProps): ReactNode {
  const file = useRef<HTMLInputElement>(null);
  async function importFile(chosen: File): Promise<void> {
    const format = /\.csv$/i.test(chosen.name) ? "csv" : "jsonl";
    const count = await evalsClient.datasets.importCases(dataset, { format, text: await chosen.text() });
    showToast(`Imported ${formatCount(count, "case")}.`);
    onImported();
  }
  return (
    <>
      <input
        ref={file}
        type="file"
        accept=".csv,.jsonl,text/csv"
        aria-label="Cases as CSV or JSONL"
        tabIndex={-1}
        className="sr-only"
        onChange={({ target }) => {
          const [chosen] = target.files ?? [];
          if (chosen) runWithToast(() => importFile(chosen));
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
