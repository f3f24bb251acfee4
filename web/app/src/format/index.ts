export { cell, isNumeric, type Kind, kindOf, type Meaning, type ShownCell, type ShownColumn } from "./cell";
export { withMeaning } from "./columns";
export { type Instant, instantsIn } from "./instants";
export { bytes, compact, count, NONE, number, percent } from "./number";
export { sentence } from "./sentence";
export { ago, areDays, type Day, date, dayOf, duration, onTheWall, type Shown, time } from "./time";
