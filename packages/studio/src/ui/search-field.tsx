import { Search } from "lucide-react";
import type { ReactNode } from "react";

type SearchFieldProps = {
  readonly label: string;
  readonly placeholder?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

/** A field above a list that searches it. */
export function SearchField({ label, placeholder = label, value, onChange }: SearchFieldProps): ReactNode {
  return (
    <div className="relative">
      <Search
        size={15}
        aria-hidden="true"
        className="pointer-events-none absolute left-3 top-1/2 -translate-y-1/2 text-faint"
      />
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        className="h-10 pointer-coarse:h-11 w-full rounded-md border bg-raised pl-9 pr-3 text-sm [&::-webkit-search-cancel-button]:hidden"
      />
    </div>
  );
}
