// Stands in for LangSmith in the bundle (see vite.config.ts). The LangGraph client traces nothing from a
// browser, yet LangChain's core would bring the whole tracing client along: 60 kB that can only send data away.

export class Client {}

export class RunTree {}

export const isRunTree = () => false;
export const isTraceableFunction = () => false;
export const getCurrentRunTree = () => undefined;
export const getDefaultProjectName = () => "";
export const convertToDottedOrderFormat = () => ({ dottedOrder: "", microsecondPrecisionDatestring: "" });
