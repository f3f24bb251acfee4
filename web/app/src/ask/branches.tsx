import { BranchPickerPrimitive } from "@assistant-ui/react";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { IconButton } from "~/ui";

/** ‹ 2/3 › : which of several questions or answers in the same place is shown. */
export function Branches({ of }: { of: "question" | "answer" }) {
  return (
    <BranchPickerPrimitive.Root
      hideWhenSingleBranch
      className="inline-flex items-center text-ink-3 text-small"
    >
      <BranchPickerPrimitive.Previous asChild>
        <IconButton label={`Previous ${of}`} size="smallIcon">
          <ChevronLeft />
        </IconButton>
      </BranchPickerPrimitive.Previous>
      <span>
        <BranchPickerPrimitive.Number />/<BranchPickerPrimitive.Count />
      </span>
      <BranchPickerPrimitive.Next asChild>
        <IconButton label={`Next ${of}`} size="smallIcon">
          <ChevronRight />
        </IconButton>
      </BranchPickerPrimitive.Next>
    </BranchPickerPrimitive.Root>
  );
}
