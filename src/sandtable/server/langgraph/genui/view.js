// A new address each time, so that the browser runs it each time; all that is worth keeping lies in mount.js.
import { mount } from "./mount.js";

mount(import.meta.url);
