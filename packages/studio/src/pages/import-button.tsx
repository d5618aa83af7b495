import { Upload } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { Button } from "../look/button.tsx";
import { attempt } from "../shell/toasts.tsx";

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
