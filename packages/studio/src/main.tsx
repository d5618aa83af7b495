import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import "./look/theme.css";
import { showTheme } from "./look/theme.ts";

showTheme();
const place = document.getElementById("studio");
if (place)
  createRoot(place).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
