import { useState } from "react";

/** What was typed and not sent, for each session, as long as the tab is open. */
export function useDraft(place: string): readonly [string, (text: string) => void] {
  const key = `capstan-draft ${place}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? "");
  return [
    text,
    (next) => {
      setText(next);
      if (next === "") sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, next.slice(0, 200_000));
    },
  ];
}
