export { Boundary } from "./boundary";
export { Crumbs } from "./crumbs";
export { type Details, TAB_PARAMETER, useDetails, useDetailsSubject } from "./details";
export { useWide, useWindowHeight } from "./media";
export { Page } from "./page";
export { places, useThreadId } from "./places";
export { forceTheme, type Theme, useTheme } from "./theme";
