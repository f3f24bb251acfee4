import { expect, test } from "vitest";
import { Problem } from "~/api/problem";
import { wrongIn } from "./wrong";

const refused = (details: Record<string, unknown>) =>
  new Problem({ code: "VALIDATION_ERROR", message: "it is taken", suggestion: "Choose another.", details });

test("the field that the server names has the error, and the form has none", () => {
  const { fields, rest } = wrongIn(refused({ field: "name" }), ["name"]);
  expect(fields).toEqual({ name: { message: "it is taken", suggestion: "Choose another." } });
  expect(rest).toBeNull();
});

test("of several errors each field has its first", () => {
  const errors = [
    { field: "name", message: "`name` is missing", suggestion: "Add it." },
    { field: "name", message: "a second one", suggestion: "" },
    { field: "admin", message: "`admin` must be a boolean", suggestion: "Correct it." },
  ];
  const { fields, rest } = wrongIn(refused({ errors }), ["name"]);
  expect(fields).toEqual({ name: { message: "`name` is missing", suggestion: "Add it." } });
  expect(rest).toBeNull();
});

test.each([
  ["names no field", {}],
  ["names a field that the form does not have", { field: "scopes" }],
  ["has errors of another form", { errors: ["name", null, { field: 1 }] }],
])("what %s is shown below the form", (_, details) => {
  const error = refused(details);
  expect(wrongIn(error, ["name"])).toEqual({ fields: {}, rest: error });
});

test("without an error nothing is wrong", () => {
  expect(wrongIn(null, ["name"])).toEqual({ fields: {}, rest: null });
});
