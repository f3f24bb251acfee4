export { KeySheet } from "./key_sheet";
export { type Command, commands } from "./registry";
export { useCommand, useCommandKeys, useCommandList, useCommands } from "./use_command";
