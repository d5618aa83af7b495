import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import "./ui/theme.css";
import { showTheme } from "./ui/theme.ts";

showTheme();
const place = document.getElementById("studio");
if (place)
  createRoot(place).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
