export { cell, isNumeric, isShare, isTemporal, type ShownCell, type ShownColumn } from "./cell";
export { catalogColumn } from "./columns";
export { type Instant, instantsIn } from "./instants";
export { bytes, compact, count, NONE, number, percent } from "./number";
export { sentence } from "./sentence";
export { ago, areDays, type Day, date, dayOf, duration, hasZone, onTheWall, type Shown, time } from "./time";
