import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { lazy } from "./lazy.tsx";

const Greeting = ({ name }: { readonly name: string }) => <p>Hello {name}</p>;

it("shows code that is loaded at once, without its fallback", async () => {
  let loads = 0;
  const Lazy = lazy(async () => {
    loads++;
    return { default: Greeting };
  }, "Wait");
  expect(renderToStaticMarkup(<Lazy name="Ada" />)).toBe("Wait");
  Lazy.preload();
  await Promise.resolve();
  await Promise.resolve();
  expect(renderToStaticMarkup(<Lazy name="Ada" />)).toBe("<p>Hello Ada</p>");
  expect(loads).toBe(1);
});

it("preloading code that is out of reach is no error, and is tried again", async () => {
  const answers = [Promise.reject(new Error("offline")), Promise.resolve({ default: Greeting })];
  const Lazy = lazy(() => answers.shift() as Promise<{ default: typeof Greeting }>, "Wait");
  Lazy.preload();
  await expect.poll(() => answers.length).toBe(1);
  Lazy.preload();
  await expect.poll(() => renderToStaticMarkup(<Lazy name="Ada" />)).toBe("<p>Hello Ada</p>");
});
