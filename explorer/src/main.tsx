import { render } from "preact";
import { takeKey } from "./api/client";
import { App } from "./app";
import { applyTheme, language } from "./choices";
import "./style.css";

takeKey();
applyTheme();
document.documentElement.lang = language.value;
render(<App />, document.getElementById("app")!);
