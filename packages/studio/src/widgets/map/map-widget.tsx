import { Maximize, Minus, Plus } from "lucide-react";
import { type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";
import { steadyText } from "../../markdown/visible-text.ts";
import { IconButton } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Choice, TextAlternative, WidgetFrame, WidgetRoom } from "../widget-frame.tsx";
import type { MapPin, MapProps } from "../widget-props.ts";
import { MapDrawing } from "./map-drawing.tsx";
import { projectionOf } from "./map-projection.ts";
import { usePanZoom } from "./use-pan-zoom.ts";

const usual = { width: 640, height: 360 };

/** Floors drawn from their shapes, with pins and a way: nothing is loaded for it. */
export function MapWidget(props: MapProps): ReactNode {
  const { title, levels, pins = [], route } = props;
  const [shown, setShown] = useState(() => ({ props, levelId: firstLevel(props) }));
  const place = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(place);
  const size = { width, height };
  const projection = useMemo(() => projectionOf(props, { width, height }), [props, width, height]);
  const { view, zoom, reset, centre, handlers } = usePanZoom(place, size);
  const isPanel = useContext(WidgetRoom) === "panel";
  // Another map takes the place of this one: it is seen from where it has something to show.
  if (shown.props !== props) {
    setShown({ props, levelId: firstLevel(props, shown.levelId) });
    if (pins.length > 0 || route) reset();
  }
  const { levelId } = shown;
  const setLevelId = (next: string) => setShown({ props, levelId: next });
  const level = levels.find(({ id }) => id === levelId) ?? levels[0];
  const show = (pin: MapPin): void => {
    setLevelId(pin.level);
    centre(...projection.project(pin.at));
  };
  return (
    <WidgetFrame
      label="Map"
      title={title}
      tools={
        levels.length > 1 && (
          <Choice
            label="Level"
            options={levels.map(({ id, name }) => ({ value: id, name: steadyText(name) }))}
            value={level?.id ?? ""}
            onChoose={setLevelId}
          />
        )
      }
    >
      <div className={classNames("relative", isPanel && "flex min-h-48 flex-1 flex-col")}>
        <div
          ref={place}
          role="application"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard moves it
          tabIndex={0}
          aria-label={`Map of ${steadyText(level?.name ?? "")}. Arrow keys move it, plus and minus zoom, 0 shows all.`}
          className={classNames(
            "cursor-grab touch-pan-y select-none overflow-hidden bg-sunken active:cursor-grabbing focus-visible:-outline-offset-2",
            isPanel ? "min-h-0 flex-1" : "h-[360px]",
          )}
          {...handlers}
        >
          {level && <MapDrawing map={props} level={level} projection={projection} view={view} size={size} />}
        </div>
        <div className="absolute right-2 bottom-2 flex flex-col rounded-md border bg-raised">
          <IconButton label="Zoom in" onClick={() => zoom(1.5)}>
            <Plus size={16} />
          </IconButton>
          <IconButton label="Zoom out" onClick={() => zoom(1 / 1.5)}>
            <Minus size={16} />
          </IconButton>
          <IconButton label="Show all" onClick={reset}>
            <Maximize size={14} />
          </IconButton>
        </div>
      </div>
      {(pins.length > 0 || route) && (
        <TextAlternative summary="Places and steps" isOpen={isPanel}>
          <MapInWords map={props} onShow={show} />
        </TextAlternative>
      )}
    </WidgetFrame>
  );
}

/** Where something is to be seen; otherwise the one that was looked at before. */
function firstLevel({ levels, level, pins = [], route }: MapProps, before?: string): string {
  const wanted = level ?? route?.points[0]?.level ?? pins[0]?.level ?? before;
  return levels.find(({ id }) => id === wanted)?.id ?? levels[0]?.id ?? "";
}

function useSize(place: React.RefObject<HTMLElement | null>): typeof usual {
  const [size, setSize] = useState(usual);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      const [width, height] = [element.clientWidth, element.clientHeight];
      setSize({ width: Math.max(Math.round(width), 100), height: Math.max(Math.round(height), 100) });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [place]);
  return size;
}

type MapInWordsProps = { readonly map: MapProps; readonly onShow: (pin: MapPin) => void };

function MapInWords({ map, onShow }: MapInWordsProps): ReactNode {
  const { levels, pins = [], route } = map;
  const nameOf = (id: string): string => steadyText(levels.find((level) => level.id === id)?.name ?? id);
  return (
    <>
      {pins.length > 0 && (
        <ul>
          {pins.map((pin, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two pins may have one name
            <li key={index} className="py-0.5">
              <button
                type="button"
                onClick={() => onShow(pin)}
                className="text-left text-accent underline decoration-accent/40 underline-offset-2"
              >
                {steadyText(pin.label)}
              </button>
              <span className="text-quiet">
                {pin.look === "here" && ", you are here"}, {nameOf(pin.level)}
                {pin.note !== undefined && `. ${steadyText(pin.note)}`}
              </span>
            </li>
          ))}
        </ul>
      )}
      {route?.steps && (
        <ol className="mt-2 list-decimal pl-5">
          {route.steps.map((text, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two steps may have the same words
            <li key={index} className="py-0.5">
              {steadyText(text)}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
