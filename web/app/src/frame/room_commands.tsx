// What the rooms add to the palette, asked for when it opens.
import { DatasetCommands } from "~/data/commands";
import { RunCommands } from "~/runs/commands";

export default function RoomCommands() {
  return (
    <>
      <DatasetCommands />
      <RunCommands />
    </>
  );
}
